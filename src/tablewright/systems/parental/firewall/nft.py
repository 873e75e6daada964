"""The program `nft`: scripts it runs, answers it gives, and what its complaints mean.

Must hold: a script is one transaction; what goes wrong is a FirewallMistake. Elsewhere: the scripts (nft_script.py).
"""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tablewright.systems.parental.firewall.driver import Conflict, FirewallMistake, Rejected, Unavailable
from tablewright.systems.parental.firewall.namespace import command

Command = dict[str, Any]


class Absent(FirewallMistake):
    """nft says that there is no such table, chain or set."""


@dataclass(frozen=True, slots=True)
class Nft:
    """nft in a network namespace; None is where we are."""

    namespace: str | None
    seconds: float

    def run(self, script: Sequence[Command]) -> None:
        """All of it or nothing."""
        if script:
            self._said("-j", "-f", "-", text=json.dumps({"nftables": script}))

    def ask(self, *words: str) -> dict[str, Any] | None:
        """What nft answers; None if there is no such thing."""
        try:
            return dict(json.loads(self._said("-j", *words)))
        except Absent:
            return None

    def version(self) -> str:
        return self._said("--version").strip()

    def _said(self, *words: str, text: str = "") -> str:
        asked = command(self.namespace, ["nft", *words])
        try:
            done = subprocess.run(
                asked, input=text, capture_output=True, text=True, timeout=self.seconds, check=False
            )
        except FileNotFoundError as error:
            raise Unavailable(f"{error.filename} is not installed on the gateway") from error
        except subprocess.TimeoutExpired as error:
            raise Unavailable(f"nft gave no answer in {self.seconds:g} s") from error
        if done.returncode != 0:
            raise mistake(done.stderr)
        return done.stdout


def parts(answer: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """What an answer tells of one kind: its rules, its sets."""
    return [part[kind] for part in answer.get("nftables", ()) if kind in part]


def mistake(said: str) -> FirewallMistake:
    """What nft complained of, as the contract names it."""
    words = " ".join(said.split()) or "nft failed without a message"
    if "Cannot open network namespace" in words:
        return Unavailable(f"the gateway's network is not there: {words}")
    if "Operation not permitted" in words:
        return Unavailable(f"this process may not change the gateway's network: {words}")
    if "No such file or directory" in words:
        return Absent(words)
    if "resource busy" in words.lower():
        return Conflict(words)
    if "Invalid argument" in words or "syntax error" in words or "Could not parse" in words:
        return Rejected(words)
    return Unavailable(words)
