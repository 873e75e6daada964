"""Whether a table and its copy are equal: counts and digests of all items, and the differences if they are not.

Writes while this runs show up as differences. Items whose time to live passes before it is over are left out.
"""

from dataclasses import dataclass
from itertools import islice

from tablewright.client.comparison import Difference, differences
from tablewright.client.table_digest import Expiry, TableDigest, table_digest
from tablewright.mapping.copy.context import CopyContext
from tablewright.mapping.copy.state import TablePair
from tablewright.mapping.copy.tables import ttl_of

# Longer than a verification lasts: items that expire in it may be deleted on one side before they are read.
EXPIRES_SOON = 3600
LISTED = 20


@dataclass(frozen=True, slots=True)
class Verified:
    """Both digests of a pair. `different` are the first items that differ."""

    pair: TablePair
    source: TableDigest
    target: TableDigest
    different: tuple[Difference, ...] = ()

    @property
    def is_equal(self) -> bool:
        return self.source == self.target


def verify_pair(context: CopyContext, pair: TablePair, *, segments: int = 1) -> Verified:
    """Read both tables in full."""
    ttl = ttl_of(context.source, pair.source) or ttl_of(context.target, pair.target)
    expiry = Expiry(ttl, context.world.now().timestamp() + EXPIRES_SOON) if ttl is not None else None
    source = table_digest(context.source, pair.source, segments=segments, expiry=expiry)
    target = table_digest(context.target, pair.target, segments=segments, expiry=expiry)
    if source == target:
        return Verified(pair, source, target)
    found = differences(context.source, pair.source, pair.target, context.target)
    return Verified(pair, source, target, tuple(islice(found, LISTED)))
