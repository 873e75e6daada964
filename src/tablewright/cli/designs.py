"""The designs and the environment that a command works on: `travel --environment prod`.

A system is one that ships with Tablewright, or the user's own: `path/file.py:NAME` or `package.module:NAME`, where NAME
is a Design, or a list or tuple of Designs, and the file is executed; or a design file, `FILE.json` or `FILE.yaml`.
Must hold: every error is one sentence that says which part is wrong and what to do, without a traceback.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from tablewright import systems
from tablewright.cli.design_files import is_design_file, load_design_file
from tablewright.cli.output import UsageError
from tablewright.design import Design, DesignMistake, Environment
from tablewright.design.deployment import Deployment
from tablewright.mapping.deployment import deployment_of

# Stands for no environment, where a deployment needs one: tables have plain names and no settings of their own.
PLAIN = Environment("plain", "us-east-1")
FORMS = "path/file.py:NAME, package.module:NAME, FILE.json or FILE.yaml"


class NoSuchEnvironment(UsageError):
    """The design does not have this environment."""

    def __init__(self, system: str, named: str, known: Sequence[str]) -> None:
        super().__init__(
            f"{system} has no environment {named}; its design has {', '.join(known) or 'none'}"
            + ("" if known else "; add one: design.environment(Environment(NAME, REGION))")
        )


class NoEnvironment(UsageError):
    """The design has no environment at all."""

    def __init__(self, system: str) -> None:
        super().__init__(
            f"{system} has no environment; add one: design.environment(Environment(NAME, REGION))"
        )


def add_design_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help=f"a shipped system, or {FORMS}")
    parser.add_argument(
        "--environment", metavar="NAME", required=True, help="an environment of the design, such as prod"
    )


def load_deployment(given: argparse.Namespace) -> Deployment:
    """The deployment of --environment."""
    found = {each.environment.name: each for each in _deployments(given.system)}
    if given.environment not in found:
        raise NoSuchEnvironment(given.system, given.environment, list(found))
    return found[given.environment]


def load_deployments(system: str) -> list[Deployment]:
    """The deployments of every environment, in the order of the design; production is the last."""
    found = _deployments(system)
    if not found:
        raise NoEnvironment(system)
    return found


def plain_deployment(system: str) -> Deployment:
    """The tables by their plain names, as they are made without an environment."""
    designs = load_designs(system)
    return deployment_of(_name(system, designs), designs, PLAIN)


def _deployments(system: str) -> list[Deployment]:
    designs = load_designs(system)
    name = _name(system, designs)
    return [deployment_of(name, designs, each) for each in designs[0].environments.values()]


def _name(system: str, designs: Sequence[Design]) -> str:
    return designs[0].name if _is_own(system) else system


def shipped_systems() -> list[str]:
    """The names of the systems that ship with Tablewright; does not import them."""
    return sorted(each.name for each in iter_modules(systems.__path__) if each.ispkg)


def load_designs(system: str) -> tuple[Design, ...]:
    """The designs of a shipped system, or the user's own."""
    if is_design_file(system):
        return (load_design_file(Path(system)).design,)
    if _is_own(system):
        return _load_own(system)
    names = shipped_systems()
    if system not in names:
        raise UsageError(
            f"no system named {system}; choose one of {', '.join(names)}, or name your own design as {FORMS}"
        )
    found: tuple[Design, ...] = import_module(f"tablewright.systems.{system}.design").DESIGNS
    return found


# --- the user's own ---


def _is_own(system: str) -> bool:
    """True if the text names a file or a module; False if it names a shipped system."""
    return ":" in system or system.endswith(".py") or "/" in system or is_design_file(system)


def _load_own(system: str) -> tuple[Design, ...]:
    """The designs that the text names, built."""
    source, name = split_name(system)
    found = _designs_in(source, _import(source), name)
    return tuple(design if design.is_built else design.build() for design in found)


def split_name(text: str) -> tuple[str, str]:
    """`path/file.py:NAME` as its file (or module) and its name, which is empty if there is none."""
    source, _, name = text.rpartition(":")
    return (text.rstrip(":"), "") if not source or name.endswith(".py") or "/" in name else (source, name)


def load_value(option: str, text: str) -> object:
    """What a text of the form FILE:NAME or package.module:NAME names; `option` is named in errors."""
    source, name = split_name(text)
    if not name:
        raise UsageError(f"{option} {text} names no value; write it as {FORMS}")
    module = _import(source)
    if not hasattr(module, name):
        raise UsageError(f"{option} {text}: {source} has no {name}")
    return getattr(module, name)


def _designs_in(source: str, module: ModuleType, name: str) -> tuple[Design, ...]:
    known = [known for known, value in vars(module).items() if isinstance(value, Design)]
    listing = f"designs in it: {', '.join(known)}" if known else "it contains no design"
    if not name:
        raise UsageError(f"{source} does not name a design; add its name as {source}:NAME; {listing}")
    if not hasattr(module, name):
        raise UsageError(f"{source} has no {name}; {listing}")
    value = getattr(module, name)
    designs = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not designs or not all(isinstance(one, Design) for one in designs):
        raise UsageError(f"{source}:{name} is not a Design or a list of Designs; {listing}")
    return designs


def _import(source: str) -> ModuleType:
    is_file = source.endswith(".py") or "/" in source
    if is_file:
        _refuse_no_file(Path(source))
    try:
        return _from_file(Path(source)) if is_file else _from_module(source)
    except DesignMistake:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"{source} could not be imported: {_describe_error(error)}") from None


def _refuse_no_file(path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"{path} is a directory; name a file in it: {FORMS}")
    if not path.exists():
        raise UsageError(f"no such file: {path}; name a design as {FORMS}")


def _from_module(name: str) -> ModuleType:
    # The installed `tablewright` script does not have the current directory on sys.path.
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    return import_module(name)


def _from_file(path: Path) -> ModuleType:
    """Import the file as a module; modules next to it can be imported by it."""
    beside = str(path.resolve().parent)
    if beside not in sys.path:
        sys.path.append(beside)
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file; its name must end with .py")
    module = module_from_spec(spec)
    # pydantic looks a model's annotations up by the module's name.
    before = sys.modules.get(path.stem)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(path.stem)
        if before is not None:
            sys.modules[path.stem] = before
        raise
    return module


def _describe_error(error: BaseException) -> str:
    """The error, with the line and file it was raised in."""
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno} of {error.filename})"
    raised = traceback.extract_tb(error.__traceback__)
    frames = [one for one in raised if one.filename != __file__ and "importlib" not in one.filename]
    where = f" (line {frames[-1].lineno} of {frames[-1].filename})" if frames else ""
    text = " ".join(str(error).split())
    if not isinstance(error, ImportError):
        text = f"{type(error).__name__}{': ' + text if text else ''}"
    return f"{text}{where}"
