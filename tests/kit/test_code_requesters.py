"""Who requests a code: by ticket, else known device, else network; tokens hold for one address and one secret."""

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.effort import effort

from tablewright.kit.code_requesters import UNKNOWN_ORIGIN, CodeRequesters, RequestOrigin
from tablewright.world import real_world

ANN, BEN = "ann@example.com", "ben@example.com"
REQUESTERS = CodeRequesters(b"a secret", real_world())


def test_a_network_is_one_requester_whatever_the_address() -> None:
    home, office = RequestOrigin("192.0.2.0"), RequestOrigin("198.51.100.0")
    assert REQUESTERS.requester(ANN, home) == REQUESTERS.requester(BEN, home)
    assert REQUESTERS.requester(ANN, home) != REQUESTERS.requester(ANN, office)
    assert not REQUESTERS.requester(ANN, home).is_known


def test_the_key_of_a_network_does_not_show_it() -> None:
    assert "192.0.2.0" not in REQUESTERS.requester(ANN, RequestOrigin("192.0.2.0")).key


def test_a_browser_that_verified_an_address_is_a_requester_of_its_own_for_that_address() -> None:
    token = REQUESTERS.device(ANN)
    there = RequestOrigin("192.0.2.0", (token,))
    known = REQUESTERS.requester(ANN, there)
    assert known.is_known
    assert known == REQUESTERS.requester(ANN, RequestOrigin("198.51.100.0", ("other", token)))
    assert REQUESTERS.requester(BEN, there) == REQUESTERS.requester(BEN, RequestOrigin("192.0.2.0"))
    assert (REQUESTERS.is_device(ANN, token), REQUESTERS.is_device(BEN, token)) == (True, False)


def test_two_devices_of_an_address_are_two_requesters() -> None:
    one, other = (RequestOrigin(devices=(REQUESTERS.device(ANN),)) for _ in range(2))
    assert REQUESTERS.requester(ANN, one) != REQUESTERS.requester(ANN, other)


def test_with_its_ticket_a_request_from_another_network_is_of_the_same_requester() -> None:
    first = REQUESTERS.requester(ANN, RequestOrigin("192.0.2.0"))
    ticket = REQUESTERS.ticket(ANN, first)
    device = REQUESTERS.device(ANN)
    assert REQUESTERS.requester(ANN, RequestOrigin("198.51.100.0", (device,), ticket)) == first
    assert REQUESTERS.requester(BEN, RequestOrigin("198.51.100.0", ticket=ticket)) != first


def test_a_login_is_a_requester_apart_from_networks_and_devices() -> None:
    login = REQUESTERS.login("account-1")
    assert login == REQUESTERS.login("account-1") != REQUESTERS.login("account-2")
    assert login.key.startswith("login-")


def test_tokens_of_another_secret_are_not_known() -> None:
    others = CodeRequesters(b"another secret", real_world())
    origin = RequestOrigin("192.0.2.0", (others.device(ANN),), others.ticket(ANN, others.login("x")))
    assert REQUESTERS.requester(ANN, origin) == REQUESTERS.requester(ANN, RequestOrigin("192.0.2.0"))


@effort(100)
@given(st.integers(0, 200), st.characters())
def test_a_token_that_was_changed_is_not_known(place: int, letter: str) -> None:
    token = REQUESTERS.device(ANN)
    place %= len(token)
    changed = token[:place] + letter + token[place + 1 :]
    assert REQUESTERS.is_device(ANN, changed) is (changed == token)


@effort(100)
@given(st.text(max_size=80))
def test_text_of_a_stranger_is_never_a_token(text: str) -> None:
    origin = RequestOrigin(devices=(text,), ticket=text)
    assert REQUESTERS.requester(ANN, origin) == REQUESTERS.requester(ANN, UNKNOWN_ORIGIN)
