"""FilterSpecification of an export: which items are in it, and which of their attributes.

The expressions are those of Query and Scan and are refused like theirs. The export keeps the request; the job parses it
again, with the table's key schema as it was.
In an incremental export each image is filtered alone: an item that begins to match looks as if it was created, one that
no longer matches as if it was deleted, and a key whose images do not match has no line.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from tablewright.engine.api.arguments import placeholders, read_filter, read_paths, refuse_nested_keys
from tablewright.engine.api.query_and_scan import refuse_key_filter
from tablewright.engine.api.shapes import Request
from tablewright.engine.catalog import Table
from tablewright.engine.keys import plan_range
from tablewright.expressions import (
    Condition,
    KeyTest,
    Path,
    holds,
    key_condition,
    paths_in,
    plan_keys,
    project,
)


class ExportFilter(NamedTuple):
    """The keys from `low` to `high` (None: all), of which items that hold `keep`, with the attributes `paths`."""

    low: bytes = b""
    high: bytes | None = None
    keep: Condition | None = None
    paths: tuple[Path, ...] | None = None

    def has_key(self, key: bytes) -> bool:
        return self.low <= key and (self.high is None or key < self.high)

    def matches(self, item: bytes | None) -> bool:
        return item is not None and (self.keep is None or holds(self.keep, orjson.loads(item)))

    def shown(self, item: bytes) -> bytes:
        """The item with the requested attributes."""
        return item if self.paths is None else orjson.dumps(project(self.paths, orjson.loads(item)))


class ParsedFilter(NamedTuple):
    tests: tuple[KeyTest, ...] | None
    keep: Condition | None
    paths: tuple[Path, ...] | None


def requested_filter(table: Table, asked: Request | None) -> Mapping[str, Any] | None:
    """What the export stores of a FilterSpecification; raises what Query would for one that is wrong."""
    if asked is None:
        return None
    parsed = _parsed(asked)
    paths = (*(paths_in(parsed.keep) if parsed.keep is not None else ()), *(parsed.paths or ()))
    refuse_nested_keys(table, asked, lambda: paths)
    schema = table.schema
    types = {name: table.types[name] for name in schema.names}
    _with_range(parsed, schema.hash, schema.range, types)
    if parsed.tests is not None:
        refuse_key_filter(schema, parsed.keep)
    return {"asked": asked, "hash": schema.hash, "range": schema.range, "types": types}


def filter_of(stored: Mapping[str, Any] | None) -> ExportFilter:
    """The filter that an export stores; one without a filter has everything."""
    if stored is None:
        return ExportFilter()
    hashed, ranged = tuple(stored["hash"]), tuple(stored["range"])
    return _with_range(_parsed(stored["asked"]), hashed, ranged, stored["types"])


def _parsed(asked: Request) -> ParsedFilter:
    given = placeholders(asked, ("FilterExpression", "KeyConditionExpression"), ("ProjectionExpression",))
    keep, paths = read_filter(asked, given, "ScanFilter"), read_paths(asked, given)
    text = asked.get("KeyConditionExpression")
    tests = None if text is None else key_condition(text, given)
    given.check_all_used()
    return ParsedFilter(tests, keep, paths)


def _with_range(
    parsed: ParsedFilter, hashed: tuple[str, ...], ranged: tuple[str, ...], types: Mapping[str, str]
) -> ExportFilter:
    if parsed.tests is None:
        return ExportFilter(keep=parsed.keep, paths=parsed.paths)
    low, high = plan_range(plan_keys(parsed.tests, hashed, ranged, types))
    return ExportFilter(low, high, parsed.keep, parsed.paths)
