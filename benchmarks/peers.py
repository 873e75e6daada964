"""The servers that are compared: ours in three modes, dynalite and dynoxide in two each, extenddb, moto; and how to
install the others.

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
from benchmarks.signing import Keys


def cache_directory() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "tablewright-benchmarks"


def _ours(*options: str) -> Command:
    program = Path(sys.executable).with_name("tablewright")

    def command(port: int, data: Path) -> list[str]:
        where = [] if "--memory" in options else ["--data", str(data)]
        return [str(program), "engine", "serve", "--port", str(port), *where, *options]

    return command


def ours_of_tree(source: Path) -> Contender:
    """Our server, relaxed, from another tree: `source` is the directory that holds its package."""
    if not (source / "tablewright").is_dir():
        raise CannotMeasure(
            f"--before: {source} has no package tablewright; name the src directory of a tree"
        )

    def command(port: int, data: Path) -> list[str]:
        where = ["--data", str(data), "--durability", "relaxed"]
        return [sys.executable, "-m", "tablewright", "engine", "serve", "--port", str(port), *where]

    return Contender("before", command, {"PYTHONPATH": str(source)})


def _dynalite(cli: Path, on_disk: bool) -> Command:
    # Tables that become ACTIVE at once: its half second of pretended waiting is not what we compare.
    quick = ["--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0"]

    def command(port: int, data: Path) -> list[str]:
        where = ["--path", str(data)] if on_disk else []
        return ["node", str(cli), "--host", "127.0.0.1", "--port", str(port), *quick, *where]

    return command


def _dynoxide(program: Path, on_disk: bool) -> Command:
    def command(port: int, data: Path) -> list[str]:
        where = ["--db-path", str(data / "store.sqlite")] if on_disk else []
        return [str(program), "serve", "--host", "127.0.0.1", "--port", str(port), *where]

    return command


def _extenddb(program: Path) -> Command:
    # Without a configuration file it is in developer mode: plain HTTP on loopback, a store in the working directory.
    def command(port: int, data: Path) -> list[str]:
        return ["env", "-C", str(data), str(program), "serve", "--foreground", "--port", str(port)]

    return command


# The example keys of AWS's documentation, which extenddb accepts in developer mode. It checks signatures in every mode.
EXAMPLE = Keys("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")


def _npm(package: str, file: str) -> Path:
    """A file of an npm package, which is installed if it is missing."""
    home = cache_directory() / package.replace("/", "-").lstrip("@")
    found = home / "node_modules" / package / file
    if found.exists():
        return found
    if not (shutil.which("node") and shutil.which("npm")):
        raise CannotMeasure(f"{package} needs node and npm: install them (apt-get install nodejs npm)")
    home.mkdir(parents=True, exist_ok=True)
    _install(package, ["npm", "install", "--prefix", str(home), "--no-audit", "--no-fund", package])
    return found


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


# npm packages and the file in each that is run.
DYNALITE = ("dynalite", "cli.js")
DYNOXIDE = ("@dynoxide/linux-x64", "dynoxide")
EXTENDDB = ("@extenddb/linux-x64", "extenddb")

CONTENDERS: dict[str, Callable[[], Contender]] = {
    "durable": lambda: Contender("durable", _ours("--durability", "durable")),
    "relaxed": lambda: Contender("relaxed", _ours("--durability", "relaxed")),
    "memory": lambda: Contender("memory", _ours("--memory")),
    "dynalite-disk": lambda: Contender("dynalite-disk", _dynalite(_npm(*DYNALITE), on_disk=True)),
    "dynalite-memory": lambda: Contender("dynalite-memory", _dynalite(_npm(*DYNALITE), on_disk=False)),
    "dynoxide-disk": lambda: Contender("dynoxide-disk", _dynoxide(_npm(*DYNOXIDE), on_disk=True)),
    "dynoxide-memory": lambda: Contender("dynoxide-memory", _dynoxide(_npm(*DYNOXIDE), on_disk=False)),
    "extenddb": lambda: Contender("extenddb", _extenddb(_npm(*EXTENDDB)), keys=EXAMPLE),
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
