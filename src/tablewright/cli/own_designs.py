"""The user's own design, named on the command line: `path/file.py:NAME` or `package.module:NAME`.

NAME is a Design, or a list or tuple of Designs. The file is executed.
Must hold: every error is one sentence that says which part is wrong and what to do, without a traceback.
Elsewhere: shipped systems (designs.py).
"""

import os
import sys
import traceback
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from tablewright.cli.output import UsageError
from tablewright.design import Design, DesignMistake

FORMS = "path/file.py:NAME or package.module:NAME"


class DesignNotFound(UsageError):
    """The file, the module or the name in it does not exist or cannot be imported."""


def is_own_design(system: str) -> bool:
    """True if the text names a file or a module; False if it names a shipped system."""
    return ":" in system or system.endswith(".py") or "/" in system


def load_own_designs(system: str) -> tuple[Design, ...]:
    """The designs that the text names, built."""
    source, _, name = system.rpartition(":")
    if not source or name.endswith(".py") or "/" in name:
        source, name = system.rstrip(":"), ""
    module = _import(source)
    found = _designs_in(source, module, name)
    return tuple(design if design.is_built else design.build() for design in found)


def _designs_in(source: str, module: ModuleType, name: str) -> tuple[Design, ...]:
    known = [known for known, value in vars(module).items() if isinstance(value, Design)]
    listing = f"designs in it: {', '.join(known)}" if known else "it contains no design"
    if not name:
        raise DesignNotFound(f"{source} does not name a design; add its name as {source}:NAME; {listing}")
    if not hasattr(module, name):
        raise DesignNotFound(f"{source} has no {name}; {listing}")
    value = getattr(module, name)
    designs = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not designs or not all(isinstance(one, Design) for one in designs):
        raise DesignNotFound(f"{source}:{name} is not a Design or a list of Designs; {listing}")
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
        raise DesignNotFound(f"{source} could not be imported: {_describe_error(error)}") from None


def _refuse_no_file(path: Path) -> None:
    if path.is_dir():
        raise DesignNotFound(f"{path} is a directory; name a file in it: {FORMS}")
    if not path.exists():
        raise DesignNotFound(f"no such file: {path}; name a design as {FORMS}")


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
        raise DesignNotFound(f"{path} is not a Python file; its name must end with .py")
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
