"""`serve --target`: a design that needs what the target lacks is refused by name, before the first request."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.cli import lacking_design
from tests.cli.command import here

from tablewright.design.capabilities import FEATURES, TARGETS

FILE = Path(lacking_design.__file__)
# Every feature that a design or an environment can need and some target lacks. AWS Backup is the operator's there, and
# PartiQL, exports, warm throughput and CreateBackup are asked for by people, not by a design.
NEEDED = (
    "multi_attribute", "vectors", "transactions", "autoscaling", "replicas", "pitr", "protection", "encryption",
)  # fmt: skip
UNASKED = {"backup_plan", "partiql", "exports", "warm_throughput", "backups"}
TITLES = {feature.name: feature.title for feature in FEATURES}
# How a line about the tables of the app itself begins: logins and alarms.
OWN = "Tablewright: T001"
LACKING = [
    (feature.name, target)
    for feature in FEATURES
    for target in TARGETS
    if feature.name in NEEDED and feature.support[target].level == "lacks"
]


@pytest.fixture(scope="module")
def requests() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and the requests that came to it; it refuses each of them."""
    received: list[str] = []

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.headers.get("X-Amz-Target", ""))
            self.send_error(400)

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()
        thread.join()


def options(tmp_path: Path, url: str, design: str) -> list[str]:
    named = [
        "--design", f"{FILE}:{design.upper()}", "--no-systems", "--endpoint", url, "--secrets", str(tmp_path),
        "--objects", str(tmp_path), "--url", "http://h", "--port", "0",
    ]  # fmt: skip
    return [*named, "--environment", "prod"] if design in lacking_design.ENVIRONMENTS else named


def test_every_feature_that_a_target_lacks_is_tried_or_no_design_needs_it() -> None:
    lacking = {
        feature.name for feature in FEATURES if any(one.level == "lacks" for one in feature.support.values())
    }
    assert lacking == {*NEEDED} | UNASKED


@pytest.mark.parametrize(("feature", "target"), LACKING)
def test_a_design_that_needs_what_the_target_lacks_is_refused_before_the_first_request(
    feature: str, target: str, tmp_path: Path, requests: tuple[str, list[str]]
) -> None:
    url, received = requests
    ran = here("serve", *options(tmp_path, url, feature), "--target", target)
    assert ran.code == 2
    assert f"--target {target} lacks what these systems need" in ran.err
    (named,) = [line for line in ran.err.splitlines() if ": T001: " in line and OWN not in line]
    assert f"{target} lacks: {TITLES[feature]}" in named
    assert "pets.pet" in named or "environment prod" in named
    assert received == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_design_that_needs_nothing_special_is_refused_where_the_app_itself_cannot_be_alone(
    target: str, tmp_path: Path, requests: tuple[str, list[str]]
) -> None:
    ran = here("serve", *options(tmp_path, requests[0], "nothing"), "--target", target)
    assert ran.code == 2
    if target == "alternator":  # logins and alarms are written in transactions
        assert f"{OWN}: alternator lacks: Transactions" in ran.err
    else:
        assert "T001" not in ran.err
        assert "page-tokens.secret" in ran.err  # the next thing that is missing
