"""DynamoDB's numbers: what is one, how it is spelled, what it weighs, how it sorts and adds.

Elsewhere: the same as laws over random numbers (tests/properties/test_value_laws.py).
"""

import pytest

from tablewright.values.numbers import BadNumber, add, canonical, sort_key, stored_size, subtract

NINES = "9" * 38


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("0", "0"), ("-0", "0"), ("0.0", "0"), ("0e500", "0"), ("00", "0"), ("-0.00e-9", "0"),
        ("1", "1"), ("+5", "5"), (".5", "0.5"), ("5.", "5"), ("00042", "42"), ("1.0", "1"), ("1E0", "1"),
        ("1e+2", "100"), ("1e-2", "0.01"), ("-1.50", "-1.5"), ("120", "120"), ("1200e-2", "12"),
        ("12345678901234567890123456789012345678000", "12345678901234567890123456789012345678000"),
        ("0.00000000000000000000000000000000000001", "0." + "0" * 37 + "1"),
        ("1E-130", "0." + "0" * 129 + "1"),
        ("9.9E125", "99" + "0" * 124),
        (NINES, NINES),
        ("0" * 500 + "7", "7"),
        ("7" + "0" * 125, "7" + "0" * 125),
    ],
)  # fmt: skip
def test_a_number_has_one_spelling(given: str, text: str) -> None:
    assert canonical(given) == text


@pytest.mark.parametrize(
    "text",
    ["", " ", "1 ", " 1", "1_0", "0x5", "NaN", "Infinity", "-Infinity", "1e", "--5", "+-5", "e5", ".", "+", "-",
     "1.2.3", "1,5", "１", "٣", "1e5.5", "abc", "1\n", "²"],
)  # fmt: skip
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(BadNumber, match="The parameter cannot be converted to a numeric value"):
        canonical(text)


@pytest.mark.parametrize("text", [NINES + "9", "1." + "0" * 37 + "1", "-" + "1" * 39, "1" * 39 + "e-50"])
def test_more_than_38_digits_are_refused_never_rounded(text: str) -> None:
    with pytest.raises(BadNumber, match="more than 38 significant digits"):
        canonical(text)


@pytest.mark.parametrize(
    "text", ["1e126", "-1e126", "10e125", "9" * 38 + "e89", "1e999999", "1e" + "9" * 5000]
)
def test_what_is_too_large_is_an_overflow(text: str) -> None:
    with pytest.raises(BadNumber, match="Number overflow"):
        canonical(text)


@pytest.mark.parametrize("text", ["1e-131", "-1e-131", "0.1e-130", "1e-999999", "1e-" + "9" * 5000])
def test_what_is_too_small_is_an_underflow(text: str) -> None:
    with pytest.raises(BadNumber, match="Number underflow"):
        canonical(text)


def test_zero_is_zero_whatever_its_exponent() -> None:
    assert canonical("0e" + "9" * 5000) == canonical("0.0e-" + "9" * 5000) == "0"


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 1), ("1", 2), ("12", 2), ("123", 3), ("100", 2), ("120", 3), ("1200", 2), ("12000", 3), ("1.5", 3),
     ("0.15", 2), ("0.012", 3), ("10.01", 3), ("100.5", 4), ("1" + "0" * 125, 2), ("-42", 3), ("1" * 38, 20),
     ("-" + "1" * 38, 21), ("-1." + "1" * 37, 21), ("0." + "0" * 129 + "1", 2)],
)  # fmt: skip
def test_a_number_weighs_what_the_service_says(text: str, size: int) -> None:
    assert stored_size(canonical(text)) == size


def test_sort_keys_sort_as_the_numbers_do() -> None:
    ordered = ["-9.9e125", "-1e125", "-100", "-99.9", "-10", "-1.001", "-1", "-0.5", "-1e-130", "0", "1e-130",
               "1e-129", "0.5", "1", "1.001", "1.01", "9.99", "10", "99", "100", "1e125", "9.9e125"]  # fmt: skip
    keys = [sort_key(canonical(text)) for text in ordered]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [("1", "2", "3"), ("0.1", "0.2", "0.3"), (NINES, "1", "1" + "0" * 38), ("1", "-1", "0"), ("-1", "0.5", "-0.5"),
     ("9" * 37 + "8", "1", "9" * 38), ("0", "-0.00001", "-0.00001")],
)  # fmt: skip
def test_sums_are_exact(left: str, right: str, total: str) -> None:
    assert add(left, right) == total
    assert subtract(total, right) == left


@pytest.mark.parametrize(("left", "right"), [("1" + "0" * 37, "0.1"), ("1" + "0" * 125, "1"), (NINES, "0.1")])
def test_a_sum_that_needs_more_digits_is_refused(left: str, right: str) -> None:
    with pytest.raises(BadNumber, match="Number overflow"):
        add(left, right)


def test_a_sum_beyond_the_range_is_an_overflow() -> None:
    with pytest.raises(BadNumber, match="Number overflow"):
        add("9" + "0" * 125, "1" + "0" * 125)
