"""The regions of a store directory; shared by the `dr` commands, with their options.

The directory's own store is the home region's; further regions are below it, as `serve --also-region` keeps them.
Must hold: an error of the caller is one sentence on stderr and code 2; a store that a server has open is not touched.
"""

import argparse
import dataclasses
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tablewright.cli.output import UsageError, print_result
from tablewright.cli.target import DATA, NO_TTL_SWEEP, REGION, run_with
from tablewright.engine import Engine, NotAStore, Regions, RegionsMistake, StoreInUse
from tablewright.engine.replication.failover import FailoverRefused
from tablewright.engine.storage.region_stores import home_of
from tablewright.engine.storage.sqlite import exists, stores_below


def add_store_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", metavar="DIR", type=Path, default=Path(DATA), help="the store (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_table_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--table", action="append", metavar="NAME", help="one table (default: every table with replicas)"
    )


@contextmanager
def _open_regions(given: argparse.Namespace) -> Iterator[Regions]:
    """The regions of --data, without those that are --lost; they follow each other only when asked to."""
    directory, lost = given.data, getattr(given, "lost", ())
    further = {store.name: store for store in stores_below(directory)}
    is_home_lost = not set(lost) <= further.keys()
    if not exists(directory) and not (is_home_lost and further):
        raise UsageError(f"no store found in {directory}; name its directory with --data")
    try:
        with ExitStack() as stack:
            engines: dict[str, Engine] = {}
            if not is_home_lost:
                engine = stack.enter_context(Engine.open(directory, region=REGION, ttl_seconds=NO_TTL_SWEEP))
                home = home_of(engine.tables) or REGION
                engine.place = dataclasses.replace(engine.place, region=home)
                engines[home] = engine
            for region, store in further.items():
                if region not in lost:
                    opened = Engine.open(store, region=region, ttl_seconds=NO_TTL_SWEEP)
                    engines[region] = stack.enter_context(opened)
            if not engines:
                raise FailoverRefused(f"no region of {directory} is left")
            _refuse_unknown(engines, {*lost} - further.keys())
            yield stack.enter_context(Regions(engines, next(iter(engines)), period=None))
    except StoreInUse:
        raise UsageError(
            f"{directory} is open in another process. Stop that server, run this command, and start it again"
        ) from None
    except (FailoverRefused, RegionsMistake, NotAStore) as error:
        raise UsageError(str(error)) from None


with_regions = run_with(_open_regions)


def _refuse_unknown(engines: Mapping[str, Engine], lost: Collection[str]) -> None:
    """Refuse a lost region that has neither a store nor a replica: it would be taken for the home region."""
    groups = [table.replicas for engine in engines.values() for table in engine.tables.values()]
    known = {one.region for group in groups if group is not None for one in group.members}
    for region in sorted({*lost} - known):
        raise FailoverRefused(f"no table has a replica in {region}; there are: {', '.join(sorted(known))}")


def print_report(given: argparse.Namespace, value: object, text: str) -> None:
    """Print the value, made of dataclasses, with --json; otherwise the text."""
    print_result(given, _plain(value), text)


def _plain(value: object) -> object:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value
