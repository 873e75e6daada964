"""Personal data out of texts: found in many forms, and plain talk about animals left alone."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.systems.chat.animals import DATA
from tablewright.systems.chat.talk.persona_phrases import NEXT, OPENINGS, SMALL_TALK, UNKNOWN
from tablewright.systems.chat.talk.personal_data import Kind
from tablewright.systems.chat.talk.scrub import scrub


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Hi, my name is lena and I am 8", "Hi, my name is [name] and I am 8"),
        ("ich heiße Jonas", "ich heiße [name]"),
        ("me llamo Valeria", "me llamo [name]"),
        ("je m'appelle Chloé", "je m'appelle [name]"),
        ("I'm Tom Miller, hello", "I'm [name], hello"),
        ("My brother Max likes lions", "My brother [name] likes lions"),
        ("Emma and I saw a lion", "[name] and I saw a lion"),
        ("Mrs. Smith said so", "Mrs. [name] said so"),
        ("call 555-123-4567 now", "call [phone] now"),
        ("or +49 171 2345678", "or [phone]"),
        ("mail kid.one@example.com", "mail [e-mail]"),
        ("mail kid at example dot com", "mail [e-mail]"),
        ("I live at 12 Oak Street.", "I live at [address]"),
        ("ich wohne Hauptstraße 12", "ich wohne [address]"),
        ("I live in Denver, Colorado", "I live in [address]"),
        ("my zip code is 80202", "my zip code is [address]"),
        ("my card is 4111 1111 1111 1111", "my card is [number]"),
        ("my number 123-45-6789", "my number [number]"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN [number]"),
        ("my computer is 192.168.1.10", "my computer is [number]"),
        ("my birthday is March 3rd 2015", "my birthday is [date of birth]"),
        ("I go to Lincoln Elementary School", "I go to [school]"),
        ("i go to lincoln elementary", "i go to [school]"),
        ("add me @cool_kid99", "add me [account]"),
        ("my roblox name is kid99x", "my roblox name is [account]"),
        ("look at https://photos.example/me", "look at [link]"),
        ("mail anna at example.com or anna (at) example (dot) org", "mail [e-mail] or [e-mail]"),
        ("mail anna at libero dot it", "mail [e-mail]"),
        ("call 800 555 000 now", "call [phone] now"),
        (
            "my best friend is emma and my brother torvald is mean",
            "my best friend is [name] and my brother [name] is mean",
        ),
        ("I was born on 3 may 2017. hi", "I was born on [date of birth]. hi"),
        ("my birthday is the 3rd of may, 2017 ok", "my birthday is the [date of birth] ok"),
        ("i was born in 2017", "i was born in [date of birth]"),
        ("i live in springfield", "i live in [address]"),
        ("i live in new york city with my mum", "i live in [address] with my mum"),
        ("we moved to los angeles. cool", "we moved to [address]. cool"),
        ("my sister zyla lives in ohio", "my sister [name] lives in [address]"),
        ("my name is lena gold and i am 8", "my name is [name] and i am 8"),
        ("im torvald and i like lions", "im [name] and i like lions"),
        ("MY NAME IS TORVALD", "MY NAME IS [name]"),
        ("my friends are torvald, zyla and rose", "my friends are [name], [name] and [name]"),
        ("my sister is called rose", "my sister is called [name]"),
        ("my teacher is mrs smith", "my teacher is [name]"),
        ("yesterday emma came", "yesterday [name] came"),
    ],
)
def test_personal_data_is_taken_out(text: str, clean: str) -> None:
    """ZC-X6, ZC-E4."""
    assert scrub(text).text == clean


@pytest.mark.parametrize(
    "text",
    [
        "I'm hungry",
        "I am a lion",
        "call me maybe",
        "The Red Panda lives in China",
        "Penguins dive 500 meters deep for 20 minutes",
        "In 1999 there were 20000 lions",
        "He weighs 6000 kilograms",
        "Where do you live? In Asia?",
        "What is the way to the forest",
        "Do you go to school?",
        "I have 2 cats and 3 dogs",
        "I am good at maths. Do you like it?",
        "look at the dot on its nose",
        "10 000 000 ants",
        "from 1990 - 2000, or 20 - 30 000 lions",
        "my brother snores. my mum likes lions",
        "my friend is funny and my teacher is strict",
        "i'm so hungry and i am sad",
        "will the rose grow in may? mark my words with grace",
        "we live in a big house",
    ],
)
def test_talk_about_animals_is_left_alone(text: str) -> None:
    assert scrub(text).text == text


def texts_in(found: object) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict):
        yield from (text for each in found.values() for text in texts_in(each))
    elif isinstance(found, list | tuple):
        yield from (text for each in found for text in texts_in(each))


ZOO = json.loads(DATA.read_text())


def test_what_the_shipped_animals_know_and_say_passes_unchanged() -> None:
    """Facts, details, characters and greetings, and what every persona says, by each animal."""
    said = [*texts_in(SMALL_TALK), *OPENINGS, *UNKNOWN, *NEXT.values()]
    filled = [
        text.format(name=each["name"], species=each["species"], topic="tails")
        for each in ZOO
        for text in said
    ]
    texts = [*texts_in(ZOO), *filled]
    assert len(texts) > 600
    assert [text for text in texts if scrub(text).text != text] == []


SECRETS = {
    "my name is {}": st.sampled_from(["torvald", "Zyla Quill", "rose", "jean-luc", "o'brien", "WILL"]),
    "my best friend is {}": st.sampled_from(["emma", "torvald", "Zyla Quill", "grace", "ann-kathrin"]),
    "my brother {} is mean": st.sampled_from(["torvald", "Max", "mark", "Zyla Quill", "jean-luc"]),
    "i live in {}": st.sampled_from(
        ["springfield", "San Jose", "new york", "Bad Aibling", "stratford-upon-avon"]
    ),
    "i was born on {}": st.dates().map(lambda day: f"{day.day} {day:%B} {day.year:04}".lower()),
    "my birthday is {}": st.dates().map(lambda day: f"{day:%B} {day.day}, {day.year:04}"),
    "born {}": st.dates().map(lambda day: f"{day.day:02}.{day.month:02}.{day.year:04}"),
    "write to {}": st.from_regex(r"\A[a-z]{2,9} at [a-z]{3,9} dot (com|org|de)\Z"),
    "phone {}": st.from_regex(
        r"\A\(?[1-9]\d\d\)?[ -]\d{3}[ -]\d{4}\Z", alphabet=st.characters(codec="ascii")
    ),
}


@given(st.data(), st.sampled_from(sorted(SECRETS)), st.sampled_from(["", ".", "! ok", " and i like lions"]))
def test_what_is_masked_is_never_partly_left(data: st.DataObject, opening: str, end: str) -> None:
    secret = data.draw(SECRETS[opening])
    before, after = opening.split("{}")
    left = scrub(f"hello. {before}{secret}{after}{end}").text
    assert left.startswith(f"hello. {before}[")
    assert left.endswith(f"]{after}{end}")
    assert left.count("[") == 1


PIECES = "my name is ann3 born 3 may 20177 @x.yz at dot com 555-12345678 mrs 1.2.3.45"


@given(st.lists(st.sampled_from(PIECES.split())))
def test_no_word_or_number_is_cut_in_two(words: list[str]) -> None:
    text = " ".join(words)
    for each in scrub(text).findings:
        for at in (each.start, each.end):
            assert not (0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum())


@pytest.mark.parametrize("name", ["May", "Will Rose", "Mark"])
def test_a_name_of_the_family_is_found_in_small_letters_also_if_it_is_a_word(name: str) -> None:
    assert scrub(f"today {name.lower()} came", [name]).text == "today [name] came"


def test_names_that_are_known_are_found_in_any_case_and_in_parts() -> None:
    assert scrub("ZYLA rode with zyla quill's dog", ["Zyla Quill"]).text == "[name] rode with [name] dog"


def test_findings_say_what_was_where_and_not_the_text() -> None:
    found = scrub("my name is Lena, call 555-123-4567")
    assert found.kinds == ("name", "phone")
    assert [(each.start, each.end) for each in found.findings] == [(11, 15), (22, 34)]
    assert "Lena" not in repr(found.findings)


@given(st.text(max_size=300), st.lists(st.text(min_size=2, max_size=10), max_size=3))
def test_any_text_can_be_scrubbed_and_what_was_found_does_not_overlap(text: str, names: list[str]) -> None:
    found = scrub(text, names)
    ends = [0, *(each.end for each in found.findings)]
    assert all(each.start >= end for each, end in zip(found.findings, ends, strict=False))


KINDS: tuple[Kind, ...] = ("phone", "number")


@given(st.from_regex(r"\A\+\d{2} ?\d{3} ?\d{6,8}\Z"))
def test_an_international_number_never_remains(number: str) -> None:
    assert scrub(f"call {number} please").kinds[0] in KINDS


@pytest.mark.parametrize(
    "text", ["A" * 16_000, "1" * 16_000, "A-" * 8_000, "a@" * 8_000, "my name is " * 1_400, "at dot " * 2_000]
)
def test_no_text_of_sixteen_kilobytes_takes_long(text: str) -> None:
    # A pattern that backtracks would take minutes, and the test's own timeout would end it.
    scrub(text)
