"""How figures read in the sentences of a report. Pure."""

from collections.abc import Iterable
from decimal import Decimal

from tablewright import english
from tablewright.english import grouped, plain

GB = Decimal(10**9)


def total(amounts: Iterable[Decimal]) -> Decimal:
    return sum(amounts, Decimal())


def count(number: Decimal | int) -> str:
    """`1 234 567`, `0.5`, `0.004`: whole numbers in groups, others with three figures that matter."""
    value = Decimal(number)
    if value == value.to_integral_value() or abs(value) >= 1000:
        return plain(grouped(value))
    places = max(2 - value.adjusted(), 0)
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def money(amount: Decimal) -> str:
    """`$1 234.50`; what is less than half a cent and not nothing says so."""
    return plain(english.money(amount))


def gigabytes(number: Decimal) -> str:
    """`0.24 GB`: of 10^9 bytes, as storage is billed. The only figure here that is not in powers of 1024."""
    return f"{count(number / GB)} GB"


def with_unit(number: Decimal | int, one: str) -> str:
    """`1 unit`, `0.5 unit`, `2 units`."""
    return f"{count(number)} {one if 0 < Decimal(number) <= 1 else one + 's'}"
