"""Options of long-running commands from the environment and from a TOML file: `tablewright serve`, `engine serve`.

    [serve]                                    TABLEWRIGHT_SERVE_PORT=9000
    port = 9000
    name = ["app.example.com"]                 TABLEWRIGHT_SERVE_NAME=app.example.com,www.example.com

The command line comes first, then the environment, then the file, then the default. The file is the one in --config,
else the one in TABLEWRIGHT_CONFIG, else tablewright.toml in the current directory, if there is one.
Must hold: a value is checked as on the command line, and its error names the variable or the line of the file; of
options that exclude each other, one on the command line removes the others from environment and file.
Elsewhere: the options (each command's `arguments`), what is in force (config.py).
"""

import argparse
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablewright.cli.commands import COMMANDS, Command
from tablewright.cli.files import FileUnusable, read_text

FILE, FILE_VARIABLE = "tablewright.toml", "TABLEWRIGHT_CONFIG"
DEFAULT = "default"
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True, slots=True)
class Setting:
    """An option with its value and where that value is from."""

    option: str
    value: Any
    source: str


class SettingUnusable(Exception):
    """A value in the environment or the file is not one that the option takes."""

    def __init__(self, source: str, sentence: str) -> None:
        super().__init__(f"{source}: {sentence}")


def add_settings(parser: argparse.ArgumentParser, words: str, argv: Sequence[str]) -> tuple[Setting, ...]:
    """Make environment and file the defaults of a command's options; every option with what it is without argv."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help=f"a TOML file with these options in [{_table(words)}] (default: the file in {FILE_VARIABLE}, else {FILE} "
        f"in the current directory); the environment overrides it: {_variable(words, '--port')}=9000",
    )
    named = _named(parser, argv)
    found = dict(_found(parser, words, _value_of("--config", argv)))
    for action, (source, value) in found.items():
        if not _is_excluded(parser, action, named):
            action.default = _converted(action, source, value)
    return tuple(
        Setting(_option(action), action.default, found[action][0] if action in found else DEFAULT)
        for action in _actions(parser)
    )


def _found(
    parser: argparse.ArgumentParser, words: str, config: str | None
) -> Iterator[tuple[argparse.Action, tuple[str, Any]]]:
    """What file and environment set; what comes later overrides."""
    by_name = {_option(action).removeprefix("--"): action for action in _actions(parser)}
    for path, table in _tables(words, config):
        for name, value in table.items():
            if name not in by_name:
                raise SettingUnusable(
                    f"{path}, [{_table(words)}]",
                    f"there is no option {name}; see `tablewright {words} --help`",
                )
            yield by_name[name], (f"{path}, [{_table(words)}] {name}", value)
    _refuse_unknown_variables(words, by_name)
    for action in by_name.values():
        if (variable := _variable(words, _option(action))) in os.environ:
            yield action, (variable, os.environ[variable])


def _refuse_unknown_variables(words: str, options: Iterable[str]) -> None:
    """A variable with a misspelt name would be ignored without a word."""
    known = {_variable(words, option) for option in options}
    for name in sorted(os.environ):
        if name.startswith(_variable(words, "")) and name not in known:
            raise SettingUnusable(name, f"there is no such option; see `tablewright {words} --help`")


def _tables(words: str, config: str | None) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The file, if there is one, with its table for this command."""
    asked = config or os.environ.get(FILE_VARIABLE)
    path = Path(asked or FILE)
    if asked is None and not path.is_file():
        return
    try:
        content: Any = tomllib.loads(read_text(path))
    except FileUnusable as error:
        raise SettingUnusable(
            "--config" if config else FILE_VARIABLE if asked else FILE, str(error)
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise SettingUnusable(str(path), f"not TOML: {error}") from None
    known = [
        _table(entry.words) for entry in COMMANDS if isinstance(entry, Command) and entry.is_configurable
    ]
    for name in content:
        if name not in known:
            tables = " or ".join(f"[{each}]" for each in known)
            raise SettingUnusable(str(path), f"there is no command {name}; options are in {tables}")
    table = content.get(_table(words), {})
    if not isinstance(table, dict):
        raise SettingUnusable(f"{path}, {_table(words)}", f"must be a table: [{_table(words)}]")
    yield path, table


def _converted(action: argparse.Action, source: str, value: Any) -> Any:
    """The value as the command line would give it."""
    if action.nargs == 0:
        return _truth(source, value)
    if isinstance(action.default, list):
        parts = (
            value
            if isinstance(value, list)
            else [part.strip() for part in str(value).split(",") if part.strip()]
        )
        return [_single(action, source, part) for part in parts]
    return _single(action, source, value)


def _truth(source: str, value: Any) -> bool:
    if str(value).lower() in _TRUE:
        return True
    if str(value).lower() in _FALSE:
        return False
    raise SettingUnusable(source, f"must be true or false, got {str(value)!r}")


def _single(action: argparse.Action, source: str, value: Any) -> Any:
    if isinstance(value, (list, dict, bool)):
        raise SettingUnusable(source, f"must be one value, got {value!r}")
    text = str(value)
    if action.choices is not None and text not in action.choices:
        raise SettingUnusable(source, f"must be one of {', '.join(action.choices)}, got {text!r}")
    try:
        return action.type(text) if callable(action.type) else text
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise SettingUnusable(source, str(error)) from None


# --- what argparse knows of a command; it has no public names for it ---


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The options of a command, without --help and --config."""
    return [
        action
        for action in parser._actions
        if action.option_strings and _option(action) not in ("--help", "--config")
    ]


def _option(action: argparse.Action) -> str:
    return next((name for name in action.option_strings if name.startswith("--")), action.option_strings[0])


def _named(parser: argparse.ArgumentParser, argv: Sequence[str]) -> set[str]:
    """The options in argv; argparse accepts the beginning of a name too."""
    asked = [word.partition("=")[0] for word in argv if word.startswith("--") and word != "--"]
    options = [_option(action) for action in _actions(parser)]
    return {option for word in asked for option in options if option == word or option.startswith(word)}


def _is_excluded(parser: argparse.ArgumentParser, action: argparse.Action, named: set[str]) -> bool:
    groups = parser._mutually_exclusive_groups
    return any(
        action in group._group_actions and any(_option(other) in named for other in group._group_actions)
        for group in groups
    )


def _value_of(option: str, argv: Sequence[str]) -> str | None:
    """The value of an option in argv, before argv is parsed."""
    for at, word in enumerate(argv):
        name, is_joined, value = word.partition("=")
        if name == option:
            return value if is_joined else next(iter(argv[at + 1 :]), None)
    return None


def _table(words: str) -> str:
    return words.replace(" ", "-")


def _variable(words: str, option: str) -> str:
    return f"TABLEWRIGHT_{words}_{option.removeprefix('--')}".replace(" ", "_").replace("-", "_").upper()
