"""Commands suggested to the user, with the target options of the current command, so that they can be pasted.

    print(f"next: {command_hint(given, 'migrate', 'run', name)}")

Library messages name a command in backticks without a target; `add_target_to_hints` adds it.
Must hold: every suggested command is made here and is quoted for a shell.
"""

import argparse
import re
import shlex

_PLACE = ("data", "endpoint", "region", "profile")
# Which options name the tables, by the first word of the suggested command.
_TARGETS: dict[str, tuple[str, ...]] = {
    "db": _PLACE,
    "migrate": (*_PLACE, "environment"),
    "parental": _PLACE,
    "people": (*_PLACE, "environment"),
    "serve": ("data",),
    "dr": ("data",),
}
_SUGGESTED = re.compile(r"`tablewright ([^`]+)`")


def command_hint(given: argparse.Namespace, *words: str) -> str:
    """The command line `tablewright WORDS`, with the target options of the current command."""
    options = [
        part
        for name in _TARGETS.get(words[0], ())
        if (value := getattr(given, name, None)) is not None and f"--{name}" not in words
        for part in (f"--{name}", str(value))
    ]
    return shlex.join(["tablewright", *words, *options])


def add_target_to_hints(given: argparse.Namespace, text: str) -> str:
    """The text, with the target options added to every `tablewright ...` command in backticks."""
    return _SUGGESTED.sub(lambda found: f"`{command_hint(given, *shlex.split(found[1]))}`", text)
