"""The regions of a store directory; shared by the `dr` commands.

The directory's own store is the home region's; further regions are below it, as `serve --also-region` keeps them.
Must hold: an error of the caller is one sentence on stderr and code 2; a store that a server has open is not touched.
"""

import argparse
import dataclasses
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tablewright.cli.files import error_text
from tablewright.cli.format import as_json
from tablewright.cli.output import INTERRUPTED, report_error
from tablewright.cli.target import NO_TTL_SWEEP, REGION
from tablewright.cli.usage_error import UsageError
from tablewright.engine import Engine, NotAStore, Regions, RegionsMistake, StoreInUse
from tablewright.engine.replication.failover import FailoverRefused
from tablewright.engine.storage.region_stores import home_of
from tablewright.engine.storage.sqlite import exists, stores_below


class ServerRunning(UsageError):
    """A command about regions on a store that a server has open."""

    def __init__(self, directory: Path) -> None:
        super().__init__(
            f"{directory} is open in another process. Stop that server, run this command, and start it again"
        )


@contextmanager
def open_regions(directory: Path, lost: Collection[str] = ()) -> Iterator[Regions]:
    """The regions of a directory, without those that are lost; they follow each other only when asked to."""
    further = {store.name: store for store in stores_below(directory)}
    is_home_lost = not set(lost) <= further.keys()
    if not exists(directory) and not (is_home_lost and further):
        raise UsageError(f"no store found in {directory}; name its directory with --data")
    with ExitStack() as stack:
        engines: dict[str, Engine] = {}
        try:
            if not is_home_lost:
                engine = stack.enter_context(Engine.open(directory, region=REGION, ttl_seconds=NO_TTL_SWEEP))
                home = home_of(engine.tables) or REGION
                engine.place = dataclasses.replace(engine.place, region=home)
                engines[home] = engine
            for region, store in further.items():
                if region not in lost:
                    engines[region] = stack.enter_context(
                        Engine.open(store, region=region, ttl_seconds=NO_TTL_SWEEP)
                    )
        except StoreInUse:
            raise ServerRunning(directory) from None
        if not engines:
            raise FailoverRefused(f"no region of {directory} is left")
        _refuse_unknown(engines, {*lost} - further.keys())
        yield stack.enter_context(Regions(engines, next(iter(engines)), period=None))


def _refuse_unknown(engines: Mapping[str, Engine], lost: Collection[str]) -> None:
    """Refuse a lost region that has neither a store nor a replica: it would be taken for the home region."""
    groups = [table.replicas for engine in engines.values() for table in engine.tables.values()]
    known = {one.region for group in groups if group is not None for one in group.members}
    for region in sorted({*lost} - known):
        raise FailoverRefused(f"no table has a replica in {region}; there are: {', '.join(sorted(known))}")


def with_regions(
    given: argparse.Namespace, work: Callable[[Regions], int], lost: Collection[str] = ()
) -> int:
    """Run `work` on the regions of --data; returns the exit code."""
    try:
        with open_regions(given.data, lost) as regions:
            return work(regions)
    except (UsageError, FailoverRefused, RegionsMistake, NotAStore, OSError) as error:
        return report_error(error_text(error))
    except KeyboardInterrupt:
        return INTERRUPTED


def print_report(given: argparse.Namespace, value: object, text: str) -> None:
    """Print the value with --json, otherwise the text."""
    print(as_json(_plain(value)) if given.json else text)
    sys.stdout.flush()


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return {name: _plain(one) for name, one in fields.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value
