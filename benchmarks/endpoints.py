"""The scenario tests of the systems against servers in other processes: ours, ExtendDB and moto. Prints what each did.

    python -m benchmarks.endpoints
    python -m benchmarks.endpoints --target extenddb --system portal

Scenario tests have the id of a scenario in their name. Must hold: a test has tables of its own; it counts as passed
only if it sent requests to the server; what a target lacks is skipped, and listed with the name of the capability; the
exit code is 1 if a test failed. A server that cannot be installed is left out, with the reason.
Elsewhere: how a test reaches an endpoint (tests/places.py), what targets lack (tablewright/design/capabilities.py), how
servers are installed and started (peers.py, servers.py).
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.peers import find_contenders
from benchmarks.servers import Running, running

# The name of the server (peers.py) for each target of design/capabilities.py.
SERVERS = {"wire": ("memory", "embedded"), "extenddb": ("extenddb", "extenddb"), "moto": ("moto", "moto")}
# How the names of a system's scenario tests begin.
SYSTEMS = {
    "parental": "test_pc_s", "campus": "test_cc_s", "travel": "test_sk_s", "chat": "test_zc_s", "portal": "test_cp_s",
}  # fmt: skip
COUNTS = ("passed", "skipped", "failed", "without a table")
TESTS = Path(__file__).resolve().parent.parent / "tests" / "systems"


@dataclass(slots=True)
class Outcome:
    """What came of a system's tests on a target."""

    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)


def scenarios(system: str) -> list[Path]:
    """The files with scenarios of a system."""
    begins = re.compile(rf"^ *def {SYSTEMS[system]}\d", re.MULTILINE)
    return sorted(path for path in (TESTS / system).rglob("test_*.py") if begins.search(path.read_text()))


def tried(server: Running, target: str, system: str, home: Path, also: Sequence[str]) -> Outcome:
    """Run a system's scenarios, over HTTP; each test makes its tables and deletes them."""
    report = home / f"{target}-{system}.xml"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "--timeout", "120", "-k", f"{SYSTEMS[system]} and not boto3",
         "--junit-xml", str(report), "-o", "junit_family=xunit1",
         "--endpoint", f"http://127.0.0.1:{server.port}", "--target", SERVERS[target][1],
         *map(str, scenarios(system)), *also],
        cwd=TESTS.parent.parent, stdout=sys.stderr, check=False,
    )  # fmt: skip
    return read_report(report)


def read_report(report: Path) -> Outcome:
    outcome = Outcome()
    for case in ElementTree.parse(report).iter("testcase"):
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.counts["failed"] += 1
            outcome.failed.append(str(case.get("name")))
        elif skip is not None:
            outcome.counts["skipped"] += 1
            outcome.skipped[str(skip.get("message"))] += 1
        else:
            has_asked = any(one.get("name") == "calls" for one in case.iter("property"))
            outcome.counts["passed" if has_asked else "without a table"] += 1
    return outcome


def shown(target: str, system: str, outcome: Outcome) -> str:
    counts = ", ".join(f"{outcome.counts[name]:3} {name}" for name in COUNTS)
    lines = [f"{target:9} {system:9} {counts}"]
    lines += [f"    skipped {count}: {reason}" for reason, count in outcome.skipped.items()]
    lines += [f"    failed: {name}" for name in outcome.failed]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--target", action="append", choices=SERVERS, help="default: all; can be repeated")
    parser.add_argument("--system", action="append", choices=SYSTEMS, help="default: all; can be repeated")
    given, also = parser.parse_known_args()
    has_failed = False
    with tempfile.TemporaryDirectory(prefix="tablewright-endpoints-") as home:
        for target in given.target or SERVERS:
            found, left_out = find_contenders([SERVERS[target][0]])
            for reason in left_out.values():
                print(f"{target:9} left out: {reason}", flush=True)
            for contender in found:
                with running(contender, Path(home)) as server:
                    for system in given.system or SYSTEMS:
                        outcome = tried(server, target, system, Path(home), also)
                        has_failed = has_failed or bool(outcome.failed) or not outcome.counts
                        print(shown(target, system, outcome), flush=True)
    return int(has_failed)


if __name__ == "__main__":
    sys.exit(main())
