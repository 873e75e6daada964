"""`tablewright migrate backfill SYSTEM`: give the items of a table the attributes that the design derives."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tablewright.app.copies.backups import environment_of
from tablewright.cli.designs import FORMS, NoSuchEnvironment, load_designs, load_value
from tablewright.cli.format import as_pairs, count
from tablewright.cli.migrate.migrations import all_migrations
from tablewright.cli.output import UsageError, print_message, print_result
from tablewright.cli.progress import progress_bar
from tablewright.cli.target import add_target_options, open_target, run_with
from tablewright.design import Design, DesignMistake
from tablewright.mapping import MappingMistake
from tablewright.mapping.backfill import (
    Backfill,
    BackfillContext,
    Fill,
    Progress,
    advance,
    backfill_context,
    count_lacking,
)
from tablewright.mapping.migrate import migration_context, routed

EXAMPLES = """Keys of new indexes, declared derivations and expiry times, for items that were written before the design
had them. Deploy the new code first. Several processes can run it at the same time and share the work; after an
interruption, run it again. Concurrent writes are never overwritten. With --check nothing is written; the exit code is 1
if an item lacks something, or does not fit its entity.

tablewright migrate backfill shop.py:SHOP --entity order --rate 200 --data ./data
tablewright migrate backfill travel --environment prod --check --region us-east-1"""
ERRORS = (DesignMistake, MappingMistake)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help=f"a shipped system, or {FORMS}")
    parser.add_argument("--table", metavar="NAME", help="the table of the design (default: its only one)")
    parser.add_argument(
        "--entity", metavar="TAG", action="append", default=[], help="only this entity; can be repeated"
    )
    parser.add_argument(
        "--fills",
        metavar="FILE:NAME",
        help="functions for what the design cannot derive, by entity (`design diff --skeleton`)",
    )
    parser.add_argument(
        "--environment",
        metavar="NAME",
        help="the environment of the design, which determines table names (default: names without a prefix)",
    )
    parser.add_argument("--rate", type=int, metavar="N", help="read at most N items per second and worker")
    parser.add_argument(
        "--segments", type=int, default=4, metavar="N", help="the number of scan segments (default: 4)"
    )
    parser.add_argument("--again", action="store_true", help="begin again after a run that has ended")
    parser.add_argument("--check", action="store_true", help="count what is missing, and write nothing")
    add_target_options(parser, json="print a JSON object with the counts")


def run(given: argparse.Namespace) -> int:
    if given.segments < 1 or (given.rate is not None and given.rate < 1):
        raise UsageError("--segments and --rate must be at least 1")
    return _run(given)


@contextmanager
def _open(given: argparse.Namespace) -> Iterator[BackfillContext]:
    designs = load_designs(given.system)
    known = designs[0].environments
    if given.environment not in (None, *known):
        raise NoSuchEnvironment(given.system, given.environment, list(known))
    here = known[given.environment] if given.environment else environment_of(designs)
    backfill = _backfill(given, designs)
    migrations = [one for _, one in all_migrations().values() if one.source.design == backfill.design]
    with open_target(given) as target:
        for one in migrations:
            state = migration_context(target.call, one, environment=here).find_state()
            if state is not None and state.course == "forward" and one.called == backfill.table.name:
                raise UsageError(
                    f"{backfill.table.name} is being migrated ({one.name} is {state.word}), which opens another table; "
                    f"run the backfill after `tablewright migrate switch {one.name}`"
                )
        call = routed(target.call, *migrations, environment=here)
        try:
            yield backfill_context(call, backfill, environment=here)
        except NotImplementedError as error:
            raise UsageError(f"--fills {given.fills} is not finished: {error}") from None


def _backfill(given: argparse.Namespace, designs: Sequence[Design]) -> Backfill:
    tables = {table.name: (design, table) for design in designs for table in design.tables.values()}
    if given.table is None and len(tables) > 1:
        raise UsageError(f"{given.system} has several tables; name one with --table: {', '.join(tables)}")
    name = given.table or next(iter(tables))
    if name not in tables:
        raise UsageError(f"--table {name}: {given.system} has {', '.join(tables)}")
    design, table = tables[name]
    fills = _fills(given.fills)
    found = Backfill(design, table, tuple(given.entity), fills)
    tags = [shape.tag for shape in found.shapes]
    for tag in (*given.entity, *fills):
        if tag not in tags:
            option = "--entity" if tag in given.entity else "--fills"
            raise UsageError(f"{option} {tag}: the table {name} has no such entity; it has {', '.join(tags)}")
    return found


def _fills(named: str | None) -> Mapping[str, Fill]:
    if named is None:
        return {}
    found = load_value("--fills", named)
    if not isinstance(found, Mapping) or not all(callable(fill) for fill in found.values()):
        raise UsageError(
            f"--fills {named} is not a mapping from entities to functions: {{'order': fill_order}}"
        )
    return found


@run_with(_open)
def _run(given: argparse.Namespace, context: BackfillContext) -> int:
    if given.check:
        with progress_bar() as terminal:
            counted = count_lacking(
                context, lambda done, total: terminal(done, total, f"reading {context.table}")
            )
        _print(given, context, counted, "lacking")
        return 1 if counted.filled or counted.unreadable else 0
    started = context.begin(rate=given.rate, segments=given.segments, again=given.again)
    if started.ended is not None:
        print_message(
            f"tablewright: {started.name} ended {started.ended:%Y-%m-%d %H:%M} UTC; --again begins again"
        )
    progress = _work(context)
    _print(given, context, progress, "filled")
    return 1 if progress.unreadable else 0


def _work(context: BackfillContext) -> Progress:
    worker, total = context.db.world.new_id(), context.item_count
    try:
        with progress_bar() as terminal:
            while True:
                progress = advance(context, worker)
                # 100 % only when it is over: the count may be old.
                is_known = progress.items < total
                terminal(progress.items, total if is_known else None, f"filling {context.table}")
                if progress.is_over:
                    return progress
                if not progress.worked:
                    context.sleep(
                        0.5
                    )  # other workers have the segments, or one was killed and its leases are to end
    except KeyboardInterrupt:
        print_message("tablewright: the backfill is not finished; run the same command again to continue")
        raise


def _print(given: argparse.Namespace, context: BackfillContext, counted: Progress, word: str) -> None:
    value: dict[str, Any] = {
        "backfill": context.backfill.name, "table": context.table, "items": counted.items, word: counted.filled,
        "unreadable": counted.unreadable,
    }  # fmt: skip
    unreadable = f"{count(counted.unreadable)} (do not fit their entity; left as they are)"
    pairs = [("backfill", context.backfill.name), ("table", context.table), ("items read", count(counted.items)),
             (word, count(counted.filled)), ("unreadable", unreadable)]  # fmt: skip
    print_result(given, value, as_pairs(pairs))
