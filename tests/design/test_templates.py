"""Templates: literals and parts, in segments between '#'."""

from datetime import UTC, datetime

import pytest

from tablewright.design import KeyPartUnusable
from tablewright.design.templates import BadTemplate, matcher, may_meet, parse


def test_a_template_is_literals_and_parts_in_order() -> None:
    template = parse("VISIT#{kind}#{code:upper}")
    assert [str(piece) for piece in template.pieces] == ["VISIT#", "{kind}", "#", "{code:upper}"]
    assert template.fields == ("kind", "code")


def test_segments_are_what_lies_between_delimiters() -> None:
    template = parse("A{n:4}#B#{x}")
    assert [[str(piece) for piece in segment] for segment in template.segments] == [
        ["A", "{n:4}"],
        ["B"],
        ["{x}"],
    ]


def test_a_closing_delimiter_opens_an_empty_segment() -> None:
    assert parse("A#").segments == (("A",), ())


def test_rendering_fills_the_parts() -> None:
    assert parse("VISIT#{kind}#{n:3}").render({"kind": "a#b", "n": 7}) == "VISIT#a%23b#007"


def test_a_key_is_absent_as_a_whole_when_one_part_is() -> None:
    assert parse("A#{x}#{y}").render({"x": "1", "y": None}) is None
    assert parse("A#{x}#{urgent:flag}").render({"x": "1", "urgent": False}) is None


def test_a_value_that_does_not_fit_is_named_with_its_field_and_template() -> None:
    with pytest.raises(KeyPartUnusable, match=r"'n' in the key 'N#\{n:2\}': .*does not fit into 2 digits"):
        parse("N#{n:2}").render({"n": 100})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("A#{x", "brace without its partner"),
        ("A}#", "brace without its partner"),
        ("A%23", "kept for escaping"),
        ("A#{}", "unreadable part"),
        ("A#{x y}", "unreadable part"),
        ("A#{x:}", "unreadable part"),
        ("A#{x:wide}", "'wide', which is not a codec"),
        ("A#{x:²}", "not a codec"),
    ],
)
def test_a_template_that_cannot_be_read_says_why_and_what_to_write(text: str, why: str) -> None:
    with pytest.raises(BadTemplate) as caught:
        parse(text)
    assert why in str(caught.value)
    assert caught.value.fix


def test_only_a_lone_plain_part_is_the_field_itself() -> None:
    assert parse("{status}").only_field == "status"
    assert parse("{status:lower}").only_field is None
    assert parse("S#{status}").only_field is None


def test_a_matcher_knows_what_its_template_renders_and_nothing_else() -> None:
    template = parse("AT#{at:ms}#{who}")
    rendered = template.render({"at": datetime(2026, 1, 1, tzinfo=UTC), "who": "line\nbreak"})
    assert matcher(template).fullmatch(rendered or "")
    for other in ("AT#2026#who", "AT#2026-01-01T00:00:00.000Z#", f"{rendered}#more", f"X{rendered}"):
        assert not matcher(template).fullmatch(other)


def test_a_matcher_takes_the_digits_that_are_written_and_no_others() -> None:
    assert matcher(parse("{n:2}")).fullmatch("42")
    assert not matcher(parse("{n:2}")).fullmatch("٤٢")
    assert not matcher(parse("{at:month}")).fullmatch("٢٠٢٦-01")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("USER#{a}", "USER#{b}"),
        ("USER#{a}", "USER#PROFILE"),
        ("{a}", "{b}"),
        ("V{a}", "VISIT{b}"),
        ("{a}X", "{b}"),
        ("{a}#{b}", "A#{c}"),
        ("N#{n:4}", "N#0042"),
        ("S#{s:only.A.B}", "S#B"),
    ],
)
def test_templates_that_could_render_one_text_may_meet(one: str, other: str) -> None:
    assert may_meet(parse(one), parse(other))
    assert may_meet(parse(other), parse(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("USER#{a}", "PET#{a}"),
        ("USER#{a}", "USER#{a}#X"),
        ("USER", "USER#{a}"),
        ("A{x}", "B{x}"),
        ("{x}A", "{x}B"),
        ("N#{n:4}", "N#x"),
        ("S#{s:only.A.B}", "S#C"),
        ("B#{b:bool}", "B#1"),
        ("A#{x}", "A#"),
    ],
)
def test_templates_that_never_render_one_text_do_not_meet(one: str, other: str) -> None:
    assert not may_meet(parse(one), parse(other))
    assert not may_meet(parse(other), parse(one))


@pytest.mark.parametrize(
    ("key", "prefix", "may"),
    [
        ("VISIT#{kind}#{code}", "VISIT#", True),
        ("VISIT#{kind}#{code}", "VISIT#{kind}#", True),
        ("VISIT#{kind}", "VIS", True),
        ("VISIT#{kind}", "INVITE#", False),
        ("VISIT", "VISIT#", False),
        ("{any}#{code}", "VISIT#", True),
        ("VISIT#{kind}", "VISIT#{kind}#", False),
        ("A{x}", "B", False),
    ],
)
def test_a_prefix_meets_a_template_that_could_begin_so(key: str, prefix: str, may: bool) -> None:
    assert may_meet(parse(key), parse(prefix), other_is_prefix=True) is may
