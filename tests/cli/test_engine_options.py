"""Options of the commands that run an engine: spelled alike, and refused alike."""

import argparse
from datetime import timedelta

import pytest

from tablewright.cli import engine_serve, serve


@pytest.mark.parametrize("command", [serve, engine_serve])
def test_both_commands_that_serve_take_them(command: object) -> None:
    parser = argparse.ArgumentParser()
    command.arguments(parser)  # type: ignore[attr-defined]  # a module
    given = parser.parse_args(["--ttl-seconds", "2", "--ttl-lag", "3600", "--lease", "5"])
    assert (given.ttl_seconds, given.ttl_lag, given.lease) == (2.0, timedelta(hours=1), 5.0)
    assert parser.parse_args([]).lease is None
    with pytest.raises(SystemExit):
        parser.parse_args(["--lease", "0.5"])
