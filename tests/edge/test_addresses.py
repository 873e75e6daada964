"""E-mail addresses: which spellings are one address, which are two, and which are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.edge.mail_addresses import NotAnAddress, normalise_address


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (" Ada@Example.COM ", "ada@example.com"),
        ("a@b\u00fccher.example", "a@xn--bcher-kva.example"),
        ("a@bu\u0308cher.example", "a@xn--bcher-kva.example"),
        ("a@XN--BCHER-KVA.example", "a@xn--bcher-kva.example"),
        ("a@stra\u00dfe.de", "a@xn--strae-oqa.de"),
        ("a@strasse.de", "a@strasse.de"),
        ("gr\u00fc\u00dfe@example.com", "gr\u00fc\u00dfe@example.com"),
    ],
)
def test_an_address_has_one_spelling(text: str, found: str) -> None:
    assert normalise_address(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "", "ada", "ada@", "@example.com", "ada@example", "a b@example.com", ".a@example.com", "a..b@example.com",
        "a\u200b@example.com", "a\u00ad@example.com", "a@exam\u200bple.com", "a@\u202eb.com", "\x00@b.com",
        "a@xn--.com", "a@-b.com", "a@b_c.com", "a@b.com.", f"{'a' * 65}@b.com", "a@" + "\u00e4" * 300 + ".com",
    ],
)  # fmt: skip
def test_where_nobody_could_get_mail_is_no_address(text: str) -> None:
    with pytest.raises(NotAnAddress):
        normalise_address(text)


@given(st.text(max_size=60) | st.emails() | st.text(min_size=1, max_size=9).map(lambda name: f"a@{name}.com"))
def test_a_spelling_is_spelled_as_it_is(text: str) -> None:
    try:
        found = normalise_address(text)
    except NotAnAddress:
        return
    assert normalise_address(found) == normalise_address(f" {found} ") == found
    assert found.rpartition("@")[2].isascii()
