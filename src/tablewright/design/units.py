"""Units of one call, as the service counts them. Pure.

Reads count 4 KB, writes 1 KB; an eventual read is half, a transactional one double; nothing is less than one unit, or
half an eventual one. A query adds up the bytes of all its items and rounds once, in each shard it reads.
A page of several shards is merged from one page of each: while the items fill a page, any shard may have all of them.
Elsewhere: which calls a design makes (cost/calls.py); what the embedded engine counts (engine/consumed_capacity.py),
which tests compare with this.
"""

from decimal import ROUND_CEILING, Decimal

READ_BYTES, WRITE_BYTES = 4096, 1024
_HALF = Decimal("0.5")


def read_units(
    size: Decimal | int, *, consistent: bool, transaction: bool = False, shards: int = 1
) -> Decimal:
    """What reading so many bytes takes, spread evenly over `shards` queries."""
    each = _rounded(Decimal(size) / shards, READ_BYTES)
    return each * shards * (2 if transaction else 1 if consistent else _HALF)


def items_of_shard(items: Decimal, page: int, at_most: int, shards: int) -> Decimal:
    """How many items a query for so many reads of each shard, if the mapping makes it (mapping/pages.py).

    Fewer than a page are all there are, and more than a page may have are read to the end: each shard its part. Items
    that fill a page are asked of every shard, and one more, which tells whether another page follows.
    """
    return items + 1 if shards > 1 and page <= items <= at_most else items / shards


def write_units(size: Decimal | int) -> Decimal:
    """What writing an item, or an entry of an index, takes: the larger of its sizes before and after."""
    return _rounded(Decimal(size), WRITE_BYTES)


def _rounded(size: Decimal, step: int) -> Decimal:
    return max((size / step).to_integral_value(ROUND_CEILING), Decimal(1))
