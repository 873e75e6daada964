"""One store belongs to one region: everything in it has that region in its ARN. Each exception is a sentence."""

from collections.abc import Iterator, Sequence

from tablewright.engine.catalog import Table
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.verify import store

_NAMED = (("stream", "streams"), ("backup", "backups"), ("export", "exports"), ("import", "imports"))


def wrong_regions(rows: RowReader, tables: Sequence[Table], region: str | None) -> Iterator[str]:
    """What belongs to another region than the store: `region`, or by default that of its oldest table."""
    oldest = min(tables, key=lambda table: table.number, default=None)
    home = region or (None if oldest is None else _region_of(oldest.arn))
    if home is None:
        return
    for table in tables:
        if _region_of(table.arn) != home:
            yield f"table {table.name}: it is {_region_of(table.arn)}'s, and this store is {home}'s: {table.arn}"
        if table.replicas is not None and table.replicas.region != home:
            yield f"replicas of {table.name}: they are seen from {table.replicas.region}, and this store is {home}'s"
    for what, kept in _NAMED:
        for arn in store.arns(rows, kept):
            if _region_of(arn) != home:
                yield f"{what} {arn}: it is {_region_of(arn)}'s, and this store is {home}'s"


def _region_of(arn: str) -> str:
    """`arn:aws:dynamodb:eu-west-1:...`; the whole text where it is not an ARN."""
    parts = arn.split(":", 5)
    return parts[3] if len(parts) == 6 else arn
