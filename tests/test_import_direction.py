"""The direction of imports, and the modules that alone may use SQLite, the clock, ids and randomness.

ROOMS is the tree of docs/reading-the-source.md as a dict: each package names the packages it may import. A package that
is not in it is an error, so a new package has to be added here and there.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "tablewright"
PACKAGE = "tablewright"

EVERYTHING = "*"
ROOMS: Mapping[str, str] = {
    "world": "",
    "english": "",
    "private_files": "",
    "signals": "",
    "sigv4": "",
    "values": "",
    "expressions": "values",
    "partiql": "values expressions",
    "engine": "values expressions partiql world private_files",
    "wire": "engine signals sigv4 world",
    # engine only in client/in_process.py: the Call that is answered in this process.
    "client": "values expressions sigv4 world engine",
    "design": "values expressions english",
    "mapping": "design client values expressions english world",
    # engine only for the one way in which a fault is told to the log.
    "edge": "mapping design client values expressions signals world engine",
    "kit": "edge mapping design client values expressions world engine private_files",
    # engine only for the log, as in edge.
    "pages": "kit edge mapping design engine english world",
    "systems": "kit pages edge mapping design english world private_files",
    "app": EVERYTHING,
    "cli": EVERYTHING,
    "testing": EVERYTHING,
    # The front steps: `from tablewright import Engine`, and `python -m tablewright`.
    "": "engine",
    "__main__": "cli",
}
# A module that only some files may open. Of uuid the type is anybody's; making ids is not.
DOORS: Mapping[str, str] = {
    "apsw": "engine/storage/sqlite.py engine/storage/rows.py engine/storage/row_writer.py",
    "sqlite3": "engine/storage/sqlite.py",
    "random": "world.py",
    "secrets": "world.py",
    "uuid": "world.py",
}
# Where SQL may be written: the storage, and the store of each folder of the engine.
SQL_FILES = ("engine/storage/*.py", "engine/*/store.py")
SQL = re.compile(
    r"\bSELECT\b.+\bFROM\b|\bINSERT (OR \w+ )?INTO\b|\bUPDATE \S+ SET\b|\bDELETE FROM\b"
    r"|\b(CREATE|ALTER|DROP) (TABLE|INDEX)\b|\bPRAGMA \w|^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|VACUUM)\b",
    re.DOTALL,
)
# Calls that read the clock of the machine. time.monotonic is not among them: it measures, it does not tell the time.
CLOCKS = frozenset(
    ("datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.time_ns", "time.gmtime",
     "time.localtime", "time.strftime")
)  # fmt: skip
CLOCK_FILE = "world.py"
# What stands above a system's service: it asks the service, and does not know the tables.
ABOVE_THE_SERVICE = ("api", "pages", "jobs.py")
# Packages whose files import at the top only: an import that is hidden in a function or behind TYPE_CHECKING hides what
# the file needs.
ORDINARY_IMPORTS = "cli/"


def files(source: Path = SOURCE) -> list[Path]:
    return sorted(source.rglob("*.py"))


def room_of(path: Path, source: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return "" if parts == ("__init__",) else parts[0]


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module an import names, wherever it stands: inside functions as well."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield "." * node.level + (node.module or "")
            elif node.module == PACKAGE:
                # `from tablewright import wire` reaches a room, `import Engine` the front steps.
                yield from (f"{PACKAGE}.{alias.name}" for alias in node.names)
            elif node.module == "uuid":
                yield from (f"uuid.{alias.name}" for alias in node.names)
            elif node.module is not None:
                yield node.module
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__":
            yield "__import__"


def wrong_imports(source: Path = SOURCE) -> list[str]:
    """Each import against the map, as a sentence."""
    wrong = []
    for path in files(source):
        where, room = path.relative_to(source), room_of(path, source)
        if room not in ROOMS:
            wrong.append(f"{where}: the room {room} is not on the map")
            continue
        for name in imported(ast.parse(path.read_text())):
            if name.startswith(".") or name == "__import__":
                wrong.append(f"{where}: {name} hides where it goes; import by full name")
                continue
            package, _, rest = name.partition(".")
            if package != PACKAGE:
                continue
            target = rest.partition(".")[0]
            target = target if target in ROOMS else ""
            if room == target == "systems" and len(where.parts) > 2 and rest.split(".")[1] != where.parts[1]:
                wrong.append(f"{where}: systems do not import each other: {name}")
            if target != room and ROOMS[room] != EVERYTHING and target not in ROOMS[room].split():
                wrong.append(f"{where}: {room or 'the front steps'} may not import {name}")
    return wrong


def wrong_doors(source: Path = SOURCE) -> list[str]:
    """Each use of SQL, ids or chance outside its files."""
    wrong = []
    for path in files(source):
        where = path.relative_to(source).as_posix()
        for name in imported(ast.parse(path.read_text())):
            door = None if name == "uuid.UUID" else DOORS.get(name.partition(".")[0])
            if door is not None and where not in door.split():
                wrong.append(f"{where}: only {door.replace(' ', ' and ')} may import {name}")
    return wrong


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every string with its line, parts of one f-string joined; docstrings left out."""
    quiet = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            quiet |= {id(part) for part in node.values}
            parts = [str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values]
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in quiet:
            yield node.lineno, node.value


def wrong_sql(source: Path = SOURCE) -> list[str]:
    """Each SQL statement of the engine outside the storage and the store of its folder."""
    wrong = []
    for path in files(source):
        where = path.relative_to(source)
        if where.parts[0] != "engine" or any(where.match(pattern) for pattern in SQL_FILES):
            continue
        for line, text in texts(ast.parse(path.read_text())):
            if SQL.search(text):
                wrong.append(f"{where}:{line}: SQL belongs into {' or '.join(SQL_FILES)}: {text[:60]}")
    return wrong


def wrong_clocks(source: Path = SOURCE) -> list[str]:
    """Each look at the machine's clock outside world.py, called or only handed on."""
    wrong = []
    for path in files(source):
        where = path.relative_to(source).as_posix()
        if where == CLOCK_FILE:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                owner = node.value
                last = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
                if f"{last}.{node.attr}" in CLOCKS:
                    wrong.append(f"{where}:{node.lineno}: {last}.{node.attr} is world.now's business")
            elif isinstance(node, ast.ImportFrom) and node.module == "time":
                names = [alias.name for alias in node.names if f"time.{alias.name}" in CLOCKS]
                wrong += [f"{where}:{node.lineno}: time.{name} is world.now's business" for name in names]
    return wrong


def hidden_imports(source: Path = SOURCE) -> list[str]:
    """Each import in a function, and each import of our own modules under TYPE_CHECKING, in ORDINARY_IMPORTS."""
    hidden = []
    for path in files(source):
        where = path.relative_to(source).as_posix()
        if not where.startswith(ORDINARY_IMPORTS):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            is_type_checking = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                hidden += [f"{where}: {node.name} imports {name}" for name in imported(node)]
            elif is_type_checking:
                names = [name for name in imported(node) if name.startswith(PACKAGE)]
                hidden += [f"{where}: TYPE_CHECKING hides {name}" for name in names]
    return hidden


def design_imports(source: Path = SOURCE) -> list[str]:
    """Each import of a system's design in its API, its pages and its jobs."""
    wrong = []
    for path in files(source):
        where = path.relative_to(source)
        if where.parts[0] != "systems" or len(where.parts) < 3 or where.parts[2] not in ABOVE_THE_SERVICE:
            continue
        design = f"{PACKAGE}.systems.{where.parts[1]}.design"
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            if any(f"{name}.".startswith(f"{design}.") for name in names):
                wrong.append(f"{where}:{node.lineno}: ask the service, not the design")
    return wrong


def test_every_import_follows_the_map() -> None:
    assert wrong_imports() == []


def test_only_the_storage_says_sql_and_the_world_the_only_one_that_throws_dice() -> None:
    assert wrong_doors() == []


def test_sql_is_in_the_storage_and_in_the_store_of_a_folder_only() -> None:
    assert wrong_sql() == []


def test_only_the_world_looks_at_the_clock() -> None:
    assert wrong_clocks() == []


def test_commands_import_at_the_top_of_their_files() -> None:
    assert hidden_imports() == []


def test_nothing_above_the_service_imports_the_design() -> None:
    assert design_imports() == []


def test_every_room_of_the_map_exists() -> None:
    found = {room_of(path, SOURCE) for path in files()}
    assert found == set(ROOMS)


# --- the checks check ---


def planted(home: Path, where: str, text: str) -> Path:
    """A house with one file in it."""
    file = home / where
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return home


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("values/codec.py", "import tablewright.engine"),
        ("values/codec.py", "from tablewright.world import World"),
        ("values/codec.py", "from tablewright import Engine"),
        ("expressions/parse.py", "from tablewright import wire"),
        ("expressions/parse.py", "def late():\n    from tablewright.engine import Engine"),
        ("expressions/parse.py", "from tablewright.world import World"),
        ("world.py", "import tablewright.values.numbers as n"),
        ("engine/engine.py", "from tablewright.wire.server import serve"),
        ("engine/engine.py", "if True:\n    from tablewright.testing import Clock"),
        ("engine/api/items.py", "import json, tablewright.cli"),
        ("wire/server.py", "from tablewright.values import admit"),
        ("wire/server.py", "from tablewright.expressions import condition"),
        ("__init__.py", "from tablewright.wire import serve"),
        ("engine/engine.py", "from .. import wire"),
        ("engine/engine.py", "__import__('tablewright.wire')"),
        ("attic/ghosts.py", "import json"),
        ("kit/jobs.py", "from tablewright.pages.layout import Console"),
        ("pages/layout.py", "from tablewright.app.accounts import PREFIX"),
        ("systems/portal/rules.py", "from tablewright.app.progress import Terminal"),
        ("systems/portal/rules.py", "from tablewright.systems.travel.rules import check_place"),
    ],
)  # fmt: skip
def test_a_planted_import_against_the_map_is_found(tmp_path: Path, where: str, text: str) -> None:
    assert len(wrong_imports(planted(tmp_path, where, text))) == 1


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (
            "engine/engine.py",
            "from tablewright.values import admit\nfrom tablewright.engine.storage.sqlite import Storage",
        ),
        ("wire/server.py", "from tablewright.engine import Engine\nfrom tablewright.world import World"),
        ("cli/serve.py", "from tablewright.values import admit\nfrom tablewright import __version__"),
        ("values/codec.py", "from tablewright.values.numbers import canonical\nimport base64"),
    ],
)
def test_an_import_that_follows_the_map_is_not_found(tmp_path: Path, where: str, text: str) -> None:
    assert wrong_imports(planted(tmp_path, where, text)) == []


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("engine/verify/invariants.py", "import apsw"),
        ("wire/server.py", "import sqlite3.dbapi2"),
        ("engine/engine.py", "from uuid import uuid4"),
        ("engine/engine.py", "def f():\n    import random"),
        ("wire/request_checks.py", "from secrets import token_hex"),
        ("storage.py", "import apsw"),
    ],
)
def test_a_planted_second_key_to_a_door_is_found(tmp_path: Path, where: str, text: str) -> None:
    assert len(wrong_doors(planted(tmp_path, where, text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from tablewright.systems.portal import design as d",
        "from tablewright.systems.portal.design import orders",
        "from tablewright.systems.portal.design.customers import orders",
        "import tablewright.systems.portal.design",
    ],
)
def test_a_planted_import_of_the_design_above_the_service_is_found(tmp_path: Path, text: str) -> None:
    assert len(design_imports(planted(tmp_path / "wrong", "systems/portal/pages/orders.py", text))) == 1
    assert len(design_imports(planted(tmp_path / "wrong jobs", "systems/portal/jobs.py", text))) == 1
    assert design_imports(planted(tmp_path / "right", "systems/portal/orders/orders.py", text)) == []


@pytest.mark.parametrize(
    "text",
    [
        'rows.execute("SELECT id FROM tables")',
        'sql = f"SELECT k FROM {name} WHERE k = ?"',
        'def f(name):\n    return f"DELETE FROM {name}"',
        'x = ("UPDATE tables "\n     "SET body = ?")',
        'rows.execute("PRAGMA page_count")',
    ],
)
def test_planted_sql_is_found(tmp_path: Path, text: str) -> None:
    assert len(wrong_sql(planted(tmp_path / "wrong", "engine/verify/invariants.py", text))) == 1
    assert wrong_sql(planted(tmp_path / "right", "engine/verify/store.py", text)) == []


def test_a_docstring_may_name_a_statement(tmp_path: Path) -> None:
    text = '"""A SELECT reads FROM ranges."""\nERROR = "Select statements must specify the primary key from the table"'
    assert wrong_sql(planted(tmp_path, "engine/partiql/select.py", text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "import datetime\nx = datetime.datetime.now()",
        "from datetime import datetime\nx = datetime.utcnow()",
        "from datetime import datetime\nclock = datetime.now",
        "from datetime import date\nx = date.today()",
        "import time\nx = time.time()",
        "from time import time",
        "import time\nx = time.strftime('%Y')",
    ],
)
def test_a_planted_look_at_the_clock_is_found(tmp_path: Path, text: str) -> None:
    assert len(wrong_clocks(planted(tmp_path, "engine/engine.py", text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "def late():\n    from tablewright.engine import Engine",
        "def late():\n    import json",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tablewright.engine import Engine",
    ],
)
def test_a_planted_import_below_the_top_of_a_command_is_found(tmp_path: Path, text: str) -> None:
    assert len(hidden_imports(planted(tmp_path, "cli/db/tables.py", text))) == 1


def test_measuring_time_is_not_telling_it(tmp_path: Path) -> None:
    text = "import time\nx = time.monotonic()\ntime.sleep(1)\nclass C:\n    now = 3\ny = C.now"
    assert wrong_clocks(planted(tmp_path, "wire/server.py", text)) == []
