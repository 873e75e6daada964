"""Laws of attribute values: one spelling, exact size, bytes that sort as the values do.

Each law is checked against Decimal, bytes and text of plain Python (plain.py), never against the engine's own code.
"""

from base64 import b64encode
from copy import deepcopy
from decimal import Decimal

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.properties import plain
from tests.properties.effort import effort
from tests.properties.plain import Item, Value
from tests.properties.strategies import ITEMS, VALUES, decimals, spelled

from tablewright.values import admit, admit_item, compare, item_size, key_part, key_prefix, size_of
from tablewright.values.numbers import BadNumber, add, canonical, sort_key, stored_size, subtract, weigh

# Numbers that share their first digits, which random ones never do.
ALIKE = st.tuples(st.sampled_from(["", "-"]), st.text("019", max_size=5), st.text("019", max_size=5)).map(
    lambda parts: Decimal(f"{parts[0]}{parts[1] or 0}.{parts[2]}")
)
NUMBERS = st.one_of(decimals(), ALIKE)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
# Bytes and texts in which the terminator and its escape are frequent.
NASTY = st.lists(st.sampled_from([b"\0", b"\xff", b"\0\0", b"\0\xff", b"\x01", b"a"]), max_size=4).map(
    b"".join
)
BINARIES = st.one_of(st.binary(max_size=6), NASTY)
KEYS: st.SearchStrategy[Value] = st.one_of(
    TEXTS.map(lambda text: {"S": text}),
    st.text("a\0\x01\x7f", max_size=4).map(lambda text: {"S": text}),
    BINARIES.map(lambda raw: {"B": b64encode(raw).decode()}),
    NUMBERS.map(lambda number: {"N": plain.plain(number)}),
)


# --- numbers ---


@effort(300)
@given(ITEMS)
def test_the_json_text_of_an_item_is_at_least_as_long_as_the_item_is_large(item: Item) -> None:
    """By this TransactWriteItems knows without counting that most requests are within 4 MB."""
    canonical, size = admit_item(item)
    assert size == item_size(canonical) <= len(orjson.dumps(item))


@effort(300)
@given(st.data(), NUMBERS)
def test_every_spelling_of_a_number_has_the_same_canonical_text(data: st.DataObject, number: Decimal) -> None:
    assert canonical(data.draw(spelled(number))) == plain.plain(number)


@effort(300)
@given(NUMBERS)
def test_a_canonical_number_is_its_own_canonical_text(number: Decimal) -> None:
    text = canonical(plain.plain(number))
    assert canonical(text) == text
    assert Decimal(text) == number


@effort(400)
@given(NUMBERS, NUMBERS)
@example(Decimal("-1E-130"), Decimal(0))
@example(Decimal("1E-130"), Decimal("1E125"))
@example(Decimal("-9.9E125"), Decimal("-9.9E124"))
@example(Decimal("-1.001"), Decimal("-1"))
def test_numbers_sort_as_decimals_do(left: Decimal, right: Decimal) -> None:
    a, b = sort_key(plain.plain(left)), sort_key(plain.plain(right))
    assert (a < b, a == b) == (left < right, left == right)


@effort(300)
@given(NUMBERS, NUMBERS)
def test_no_sort_key_of_a_number_begins_with_that_of_another(left: Decimal, right: Decimal) -> None:
    if left != right:
        assert not sort_key(plain.plain(left)).startswith(sort_key(plain.plain(right)))


@effort(300)
@given(NUMBERS)
def test_a_number_weighs_what_its_base_100_digits_weigh(number: Decimal) -> None:
    assert stored_size(plain.plain(number)) == plain.number_size(number)


@effort(300)
@given(NUMBERS, NUMBERS)
def test_sums_are_exact_or_refused(left: Decimal, right: Decimal) -> None:
    a, b = plain.plain(left), plain.plain(right)
    for result, sign in ((add, 1), (subtract, -1)):
        expected = plain.added(a, b, sign)
        if expected is None:
            with pytest.raises(BadNumber):
                result(a, b)
        else:
            assert result(a, b) == expected


# --- keys ---


@effort(400)
@given(KEYS, KEYS)
def test_key_parts_sort_as_their_values_do(left: Value, right: Value) -> None:
    if left.keys() == right.keys():
        a, b = plain.order(left), plain.order(right)
        assert (key_part(left) < key_part(right), key_part(left) == key_part(right)) == (a < b, a == b)
        assert compare(left, right) == (a > b) - (a < b)
    else:
        assert compare(left, right) is None


@effort(400)
@given(KEYS, KEYS)
def test_no_key_part_begins_with_that_of_another_value_of_its_kind(left: Value, right: Value) -> None:
    if left.keys() == right.keys() and left != right:
        assert not key_part(left).startswith(key_part(right))


@effort(300)
@given(st.lists(st.tuples(KEYS, KEYS).filter(lambda pair: pair[0].keys() == pair[1].keys()), max_size=3))
def test_joined_key_parts_sort_part_by_part(pairs: list[tuple[Value, Value]]) -> None:
    left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    a, b = b"".join(map(key_part, left)), b"".join(map(key_part, right))
    assert (a < b) == ([plain.order(value) for value in left] < [plain.order(value) for value in right])


@effort(300)
@given(BINARIES, BINARIES)
def test_a_prefix_of_a_value_is_a_prefix_of_its_key_part_and_of_no_other(start: bytes, whole: bytes) -> None:
    value, prefix = {"B": b64encode(whole).decode()}, {"B": b64encode(start).decode()}
    assert key_part(value).startswith(key_prefix(prefix)) == whole.startswith(start)


# --- whole values ---


@effort(200)
@given(VALUES)
def test_what_is_admitted_is_canonical_and_weighed_exactly(value: Value) -> None:
    sent = deepcopy(value)
    canonical_value, weight = admit(value)
    assert value == sent
    assert canonical_value == plain.settled(value)
    assert weight == plain.size(value) == size_of(canonical_value)


@effort(200)
@given(VALUES)
def test_what_was_admitted_once_is_admitted_as_it_is(value: Value) -> None:
    once, _ = admit(value)
    again, _ = admit(once)
    assert again is once


@effort(200)
@given(ITEMS)
def test_an_item_weighs_its_names_and_its_values(item: Item) -> None:
    admitted, weight = admit_item(item)
    assert admitted == plain.settled_item(item)
    assert weight == plain.item_size(item) == item_size(admitted)


@given(
    whole=st.integers(0, 10**20),
    fraction=st.from_regex(r"[0-9]{0,20}[1-9]", fullmatch=True),
    sign=st.sampled_from(("", "-")),
)
def test_a_fraction_has_one_spelling_and_one_weight_however_it_is_written(
    whole: int, fraction: str, sign: str
) -> None:
    text = f"{sign}{whole}.{fraction}"
    if len((str(whole) + fraction).strip("0")) <= 38:
        # With an idle zero, or an exponent, it goes another way through the check.
        assert weigh(text) == weigh(f"{text}0") == weigh(f"{text}E0") == weigh(f"{sign}0{whole}.{fraction}")
        assert Decimal(weigh(text)[0]) == Decimal(text)
