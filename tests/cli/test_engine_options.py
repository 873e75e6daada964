"""Options of the commands that run an engine: spelled alike, and refused alike."""

import argparse
from datetime import timedelta

import pytest

from tablewright.cli import engine_serve, serve


@pytest.mark.parametrize("command", [serve, engine_serve])
def test_both_commands_that_serve_take_them(command: object) -> None:
    parser = argparse.ArgumentParser()
    command.arguments(parser)  # type: ignore[attr-defined]  # a module
    given = parser.parse_args(["--ttl-seconds", "2", "--ttl-lag", "3600"])
    assert (given.ttl_seconds, given.ttl_lag) == (2.0, timedelta(hours=1))
    with pytest.raises(SystemExit):
        parser.parse_args(["--ttl-seconds", "0"])
