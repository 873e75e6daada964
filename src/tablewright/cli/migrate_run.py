"""`tablewright migrate run NAME`: copy, and follow what changes meanwhile, until the copy is up to date."""

import argparse
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

from tablewright.cli import migrating

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.mapping.migrate import Bench

# A table that is written to all the time is never followed to its very end.
A_MOMENT = timedelta(seconds=2)
SUMMARY = "Copy a table into its new form and follow its changes; cut off, the same command goes on."
EXAMPLES = """Any number may run at once, a server among them: they share the work. After the switch it follows the
other way, so that one can go back. With --stay it goes on following until it is stopped.

examples:
  tablewright migrate run skratch-visits-2 --data ./data
  tablewright migrate run skratch-visits-2 --stay --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrating.which(parser)
    parser.add_argument("--stay", action="store_true", help="go on following until it is stopped (Ctrl-C)")


def run(given: argparse.Namespace) -> int:
    return migrating.at(given, lambda bench: _run(given, bench))


def _run(given: argparse.Namespace, bench: "Bench") -> int:
    from tablewright.app.progress import Terminal
    from tablewright.mapping.migrate import WrongPhase, advance, begin, copied, is_up_to_date

    state = begin(bench, lambda name: migrating.say(f"{name} was made"))
    if state.course is None:
        raise WrongPhase(bench.name, state.phase, "there is nothing to copy or to follow")
    told, worker = Terminal(sys.stderr, has_bar=True), bench.world.new_id()
    try:
        while True:
            done = advance(bench, worker)
            state = bench.state()
            if state.course is None:
                raise WrongPhase(bench.name, state.phase, "there is nothing more to copy or to follow")
            if not state.copied:
                told(
                    *copied(bench, state),
                    f"copying {state.source if state.course == 'forward' else state.target}",
                )
            if not given.stay and is_up_to_date(bench, state, A_MOMENT):
                break
            if done.is_idle:
                bench.sleep(1.0 if state.copied else 0.1)
    except KeyboardInterrupt:
        migrating.say(f"tablewright: {bench.name} is not over; the same command goes on")
        raise
    finally:
        told.end()
    print(f"{bench.name} is {state.word}; everything up to now is copied")
    return 0
