"""The servers that are compared: ours in three modes, dynalite in two, moto; and how to install the others.

Must hold: peers are installed outside the repository; one that cannot be installed is left out, with the reason.
Elsewhere: starting and watching a server (servers.py).
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.load import CannotMeasure
from benchmarks.servers import Command, Contender


def cache_directory() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "tablewright-benchmarks"


def _ours(*options: str) -> Command:
    program = Path(sys.executable).with_name("tablewright")

    def command(port: int, data: Path) -> list[str]:
        where = [] if "--memory" in options else ["--data", str(data)]
        return [str(program), "engine", "serve", "--port", str(port), *where, *options]

    return command


def _dynalite(cli: Path, on_disk: bool) -> Command:
    # Tables that become ACTIVE at once: its half second of pretended waiting is not what we compare.
    quick = ["--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0"]

    def command(port: int, data: Path) -> list[str]:
        where = ["--path", str(data)] if on_disk else []
        return ["node", str(cli), "--host", "127.0.0.1", "--port", str(port), *quick, *where]

    return command


def _install_dynalite() -> Path:
    home = cache_directory() / "dynalite"
    cli = home / "node_modules" / "dynalite" / "cli.js"
    if cli.exists():
        return cli
    if not (shutil.which("node") and shutil.which("npm")):
        raise CannotMeasure("dynalite needs node and npm: install them (apt-get install nodejs npm)")
    home.mkdir(parents=True, exist_ok=True)
    _install("dynalite", ["npm", "install", "--prefix", str(home), "--no-audit", "--no-fund", "dynalite"])
    return cli


def _find_moto() -> dict[str, str]:
    """The environment in which `python -m moto.server` works."""
    if importlib.util.find_spec("moto") and importlib.util.find_spec("flask"):
        return {}
    home = cache_directory() / "moto"
    if not (home / "moto").exists():
        arguments = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(home), "moto[server]"]
        _install("moto", arguments)
    return {"PYTHONPATH": str(home)}


def _install(name: str, arguments: Sequence[str]) -> None:
    print(f"installing {name} into {cache_directory()} ...", file=sys.stderr)
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise CannotMeasure(f"{name} could not be installed: {words[-1]}")


def _moto(port: int, data: Path) -> list[str]:
    return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]


CONTENDERS: dict[str, Callable[[], Contender]] = {
    "durable": lambda: Contender("durable", _ours("--durability", "durable")),
    "relaxed": lambda: Contender("relaxed", _ours("--durability", "relaxed")),
    "memory": lambda: Contender("memory", _ours("--memory")),
    "dynalite-disk": lambda: Contender("dynalite-disk", _dynalite(_install_dynalite(), on_disk=True)),
    "dynalite-memory": lambda: Contender("dynalite-memory", _dynalite(_install_dynalite(), on_disk=False)),
    "moto": lambda: Contender("moto", _moto, _find_moto()),
}
OURS = ("durable", "relaxed", "memory")


def find_contenders(names: Sequence[str]) -> tuple[list[Contender], dict[str, str]]:
    """The contenders that can be started, and for each other one why not."""
    found: list[Contender] = []
    left_out: dict[str, str] = {}
    for name in names:
        try:
            found.append(CONTENDERS[name]())
        except CannotMeasure as reason:
            left_out[name] = str(reason)
    return found, left_out
