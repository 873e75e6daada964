"""`tablewright config [COMMAND]`: the options of `serve` or `engine serve` that are in force, and where each is set."""

import argparse
import re
from datetime import timedelta
from importlib import import_module
from typing import Any

from tablewright.cli.commands import COMMANDS, Command
from tablewright.cli.format import as_table
from tablewright.cli.output import print_result
from tablewright.cli.settings import Setting, SettingUnusable, add_settings

EXAMPLES = """Shows what `tablewright serve` would use if it were started here without options: from the environment
(TABLEWRIGHT_SERVE_PORT=9000), from the file in --config, TABLEWRIGHT_CONFIG or ./tablewright.toml, or by default.

tablewright config
tablewright config "engine serve" --config /etc/tablewright.toml --json"""
ERRORS = (SettingUnusable,)
# What is printed ends up in tickets and logs: not the password in an address, such as redis://:secret@host, which may
# contain an @; and of the webhook's address, which may be a secret, only the host.
_PASSWORD = re.compile(r"(://[^/@\s:]*:)[^/\s]*@")
_WEBHOOK, _HOST = "--alarm-webhook", re.compile(r"(://)(?:[^/\s]*@)?([^/?#\s]*).*")


def arguments(parser: argparse.ArgumentParser) -> None:
    configurable = [entry.words for entry in COMMANDS if isinstance(entry, Command) and entry.is_configurable]
    parser.add_argument(
        "command",
        nargs="?",
        default=configurable[0],
        choices=configurable,
        metavar="COMMAND",
        help=f"{' or '.join(configurable)} (default: %(default)s)",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="the TOML file (default: the one the command would read)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(given: argparse.Namespace) -> int:
    found = _settings(given.command, given.config)
    print_result(
        given,
        [{"option": each.option, "value": _plain(each), "source": each.source} for each in found],
        as_table(
            ("option", "value", "source"),
            [(each.option, _words(_plain(each)), each.source) for each in found],
        ),
    )
    return 0


def _settings(words: str, config: str | None) -> tuple[Setting, ...]:
    (command,) = (entry for entry in COMMANDS if isinstance(entry, Command) and entry.words == words)
    parser = argparse.ArgumentParser()
    import_module(f"tablewright.cli.{command.module}").arguments(parser)
    return add_settings(parser, words, ["--config", config] if config else [])


def _plain(setting: Setting) -> Any:
    """The value as JSON, without what is secret of an address."""
    value = setting.value
    if isinstance(value, str):
        if setting.option == _WEBHOOK:
            return _HOST.sub(r"\1\2/...", value) if "://" in value else "..."
        return _PASSWORD.sub(r"\1...@", value)
    return value.total_seconds() if isinstance(value, timedelta) else value


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)
