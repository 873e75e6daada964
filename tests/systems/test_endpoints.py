"""The scenarios of a system on our server in another process; `make endpoints` runs all of them, on others too."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_portals_scenarios_hold_on_a_server_in_another_process_and_what_is_skipped_says_why() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.endpoints", "--target", "wire", "--system", "portal"],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    first, *reasons = ran.stdout.splitlines()
    counts = {name: int(number) for number, name in re.findall(r"(\d+) ([a-z ]+)", first)}
    assert counts["passed"] >= 10, first
    assert (counts["failed"], counts["without a table"]) == (0, 0)
    skipped = [
        re.fullmatch(r" +skipped (\d+): only with the engine of this process: .+", line) for line in reasons
    ]
    assert sum(int(found[1]) for found in skipped if found is not None) == counts["skipped"]
