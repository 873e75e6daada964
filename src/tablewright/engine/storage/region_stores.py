"""Where the stores of several regions are, and whose a store is.

The home region's store is a directory; each further region has a store below it.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from tablewright.engine.catalog import Catalog
from tablewright.engine.storage.sqlite import REGIONS


class RegionsMistake(ValueError):
    """Regions that cannot be opened: a wrong name, a name given twice, or the store of another region."""


def store_of(path: str | Path, home: str, region: str) -> str | Path:
    """Where a region's store is."""
    if str(path) == ":memory:" or region == home:
        return path
    return Path(path) / REGIONS / region


def refuse_names(names: Sequence[str]) -> None:
    for name in names:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
            raise RegionsMistake(f"{name!r} is not a region; write it as us-east-1")
        if names.count(name) > 1:
            raise RegionsMistake(f"the region {name} is given twice; each has one store")


def home_of(tables: Catalog) -> str | None:
    """The region of a store, as its oldest table has it in its ARN; None while it has no table."""
    oldest = min(tables.values(), key=lambda table: table.number, default=None)
    return oldest.arn.split(":")[3] if oldest is not None else None


def refuse_elsewhere(tables: Catalog, named: str, path: str | Path) -> None:
    """Refuse a store of another region than the one it was opened for: new tables would have the wrong ARN."""
    region = home_of(tables)
    if region not in (None, named):
        raise RegionsMistake(
            f"the store in {path} is {region}'s, not {named}'s: `engine serve --region {region}` serves it; or name "
            "another directory"
        )
