"""`tablewright migrate run NAME`: copy a table and apply its changes until the copy is up to date."""

import argparse
from datetime import timedelta

from tablewright.cli.migrate import migrations
from tablewright.cli.output import print_message
from tablewright.cli.progress import progress_bar
from tablewright.mapping.migrate import (
    MigrationContext,
    WrongPhase,
    advance,
    begin,
    copy_progress,
    is_up_to_date,
)

# With constant writes the copy is never exactly up to date; this lag counts as up to date.
ACCEPTED_LAG = timedelta(seconds=2)
EXAMPLES = """Several processes, also a server, can run it at the same time and share the work. After an
interruption, run it again. After the switch it copies changes in the other direction, so that a rollback stays
possible.

tablewright migrate run skratch-visits-2 --data ./data
tablewright migrate run skratch-visits-2 --stay --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrations.add_migration_arguments(parser)
    parser.add_argument("--stay", action="store_true", help="keep applying changes until Ctrl-C")


@migrations.with_migration
def run(given: argparse.Namespace, context: MigrationContext) -> int:
    state = begin(context, lambda name: print_message(f"created {name}"))
    if state.course is None:
        raise WrongPhase(context.name, state.phase, "there is nothing to copy")
    worker = context.world.new_id()
    try:
        with progress_bar() as terminal:
            while True:
                done = advance(context, worker)
                state = context.state()
                if state.course is None:
                    raise WrongPhase(context.name, state.phase, "there is nothing more to copy")
                if not state.copied:
                    origin = state.source if state.course == "forward" else state.target
                    terminal(*copy_progress(context, state), f"copying {origin}")
                if not given.stay and is_up_to_date(context, state, ACCEPTED_LAG):
                    break
                if done.is_idle:
                    context.sleep(1.0 if state.copied else 0.1)
    except KeyboardInterrupt:
        print_message(f"tablewright: {context.name} is not finished; run the same command again to continue")
        raise
    print(f"{context.name} is {state.word}; all changes so far are copied")
    return 0
