"""Runs benchmarks that consist of parts: arguments, the parts in order, the verdict and the JSON output.

Elsewhere: the form of a verdict (verdict.py, report.py), the machine (machine.py).
"""

import argparse
import dataclasses
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks.load import CannotMeasure
from benchmarks.machine import look_at_machine
from benchmarks.report import verdict_table
from benchmarks.verdict import Target

B = TypeVar("B")


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """The result of one part: text to print, the same as JSON, and the targets it decides."""

    name: str
    text: str
    found: object
    targets: Sequence[Target]


def print_progress(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {line}", file=sys.stderr, flush=True)


def names_from(known: Sequence[str]) -> Callable[[str], list[str]]:
    """A parser of comma-separated names for argparse."""

    def parse(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",") if name.strip()]
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"'{name}' is not one of {', '.join(known)}")
        return names

    return parse


def argument_parser(program: str, about: str | None, parts: Sequence[str]) -> argparse.ArgumentParser:
    """A parser with the arguments of every benchmark in parts; the caller adds its own."""
    opening, _, rest = (about or "").partition("\n")
    parser = argparse.ArgumentParser(
        program, description=opening, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", type=names_from(parts), default=list(parts), help=",".join(parts))
    parser.add_argument("--directory", type=Path, help="the directory of the stores; use a real disk")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all results to FILE")
    return parser


def run_parts(
    parts: Mapping[str, Callable[[B], Part]],
    asked: argparse.Namespace,
    bench: Callable[[Path], B],
    settings: Mapping[str, object],
) -> int:
    """Run the parts that were asked for in a temporary directory; returns the exit code."""
    done: list[Part] = []
    with tempfile.TemporaryDirectory(prefix="tablewright-benchmark-", dir=asked.directory) as home:
        machine = look_at_machine(Path(home))
        print(machine.sentence() + "\n")
        opened = bench(Path(home))
        for name in asked.parts:
            try:
                done.append(parts[name](opened))
            except CannotMeasure as reason:
                print(reason, file=sys.stderr)
                return 2
            print(done[-1].text, flush=True)
    targets = [target for part in done for target in part.targets]
    if targets:
        print(verdict_table(targets))
    if asked.json:
        everything = {
            "machine": dataclasses.asdict(machine),
            "settings": settings,
            **{part.name: part.found for part in done},
            "verdict": [dataclasses.asdict(target) for target in targets],
        }
        asked.json.write_text(json.dumps(everything, indent=1) + "\n")
    return 1 if any(target.met is False for target in targets) else 0
