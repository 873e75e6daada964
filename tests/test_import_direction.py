"""The direction of import, and the doors with one key: SQL, time, ids and chance.

The map is docs/map.md in a dict: each room names the rooms it may import. What is not on the map is an error too,
so a new room has to be put on it.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "tablewright"
PACKAGE = "tablewright"

EVERYTHING = "*"
ROOMS: Mapping[str, str] = {
    "world": "",
    "values": "",
    "expressions": "values",
    "partiql": "values expressions",
    "engine": "values expressions partiql world",
    "wire": "engine world",
    # engine only in client/embedded.py: the Call that is answered in this process.
    "client": "values expressions world engine",
    "design": "values expressions",
    "mapping": "design client values expressions world",
    # engine only for the one way in which a fault is told to the log.
    "edge": "mapping design client values expressions world engine",
    "systems": "edge mapping design world",
    "app": EVERYTHING,
    "cli": EVERYTHING,
    "testing": EVERYTHING,
    # The front steps: `from tablewright import Engine`, and `python -m tablewright`.
    "": "engine",
    "__main__": "cli",
}
# A module that only some files may open. Of uuid the type is anybody's; making ids is not.
DOORS: Mapping[str, str] = {
    "apsw": "engine/storage.py engine/storage_rows.py",
    "sqlite3": "engine/storage.py",
    "random": "world.py",
    "secrets": "world.py",
    "uuid": "world.py",
}
# Calls that read the clock of the machine. time.monotonic is not among them: it measures, it does not tell the time.
CLOCKS = frozenset(
    ("datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.time_ns", "time.gmtime",
     "time.localtime", "time.strftime")
)  # fmt: skip
CLOCK_FILE = "world.py"


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


def test_every_import_follows_the_map() -> None:
    assert wrong_imports() == []


def test_only_the_storage_says_sql_and_the_world_the_only_one_that_throws_dice() -> None:
    assert wrong_doors() == []


def test_only_the_world_looks_at_the_clock() -> None:
    assert wrong_clocks() == []


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
        ("engine/operations/put_item.py", "import json, tablewright.cli"),
        ("wire/server.py", "from tablewright.values import admit"),
        ("wire/server.py", "from tablewright.expressions import condition"),
        ("__init__.py", "from tablewright.wire import serve"),
        ("engine/engine.py", "from .. import wire"),
        ("engine/engine.py", "__import__('tablewright.wire')"),
        ("attic/ghosts.py", "import json"),
    ],
)  # fmt: skip
def test_a_planted_import_against_the_map_is_found(tmp_path: Path, where: str, text: str) -> None:
    assert len(wrong_imports(planted(tmp_path, where, text))) == 1


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (
            "engine/engine.py",
            "from tablewright.values import admit\nfrom tablewright.engine.storage import Storage",
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
        ("engine/verify.py", "import apsw"),
        ("wire/server.py", "import sqlite3.dbapi2"),
        ("engine/engine.py", "from uuid import uuid4"),
        ("engine/engine.py", "def f():\n    import random"),
        ("wire/gate.py", "from secrets import token_hex"),
        ("storage.py", "import apsw"),
    ],
)
def test_a_planted_second_key_to_a_door_is_found(tmp_path: Path, where: str, text: str) -> None:
    assert len(wrong_doors(planted(tmp_path, where, text))) == 1


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


def test_measuring_time_is_not_telling_it(tmp_path: Path) -> None:
    text = "import time\nx = time.monotonic()\ntime.sleep(1)\nclass C:\n    now = 3\ny = C.now"
    assert wrong_clocks(planted(tmp_path, "wire/server.py", text)) == []
