"""Designs that an engineer uploaded to the console: each is a file of the store, and is there again after a restart.

A file has the text as it was uploaded, its name and the time; not by whom: an account that is erased leaves nothing.
Must hold: an upload is a design file (JSON or YAML), so nothing in it is run; neither its name nor its tables are those
of another design; a file is whole or not there; a table is made only when an engineer asks for it.
Not for them: backups, copies elsewhere, alarms and charges; these are of designs that the server is started with.
Elsewhere: the pages (designs/uploads.py), designs that the server is started with (own_designs.py).
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock

from tablewright.app.own_designs import refuse_name
from tablewright.design import Design, DesignMistake
from tablewright.design.files import read_file
from tablewright.kit.system import SystemsClash
from tablewright.mapping import Db
from tablewright.private_files import private_directory, private_file, sync
from tablewright.world import World

MOST = 50
_LETTERS = 120


class TooManyUploads(ValueError):
    """The store has as many uploaded designs as it takes."""

    def __init__(self) -> None:
        super().__init__(f"this store has {MOST} uploaded designs, which is the most; remove one first")


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded design: the name of its file where it came from, its text, and the Db of its tables."""

    file: str
    text: str
    at: datetime
    design: Design
    db: Db


def is_yaml(text: str) -> bool:
    """True unless a text begins as JSON does."""
    return not text.lstrip().startswith(("{", "["))


class UploadedDesigns:
    """The uploaded designs of a store, by name. `home` is their directory; None if this server takes none.

    `names` are the designs and the tables that others have.
    """

    def __init__(
        self,
        home: Path | None,
        world: World,
        db_of: Callable[[Design], Db],
        designs: Iterable[str],
        tables: Iterable[str],
    ) -> None:
        self.home = home
        self._world = world
        self._db_of = db_of
        self._designs, self._tables = frozenset(designs), frozenset(tables)
        self._lock = Lock()
        self._found: Mapping[str, Upload] = {}
        self.advice = tuple(self._load())

    @property
    def is_open(self) -> bool:
        """Whether uploads are taken: several processes that share tables would each have others."""
        return self.home is not None

    def all(self) -> Mapping[str, Upload]:
        return self._found

    def add(self, file: str, text: str) -> Upload:
        """Keep a design; DesignMistake, DesignNameUnusable, SystemsClash or TooManyUploads say why not."""
        if self.home is None:
            raise ValueError("this server takes no uploads")
        design = read_file(text, is_yaml=is_yaml(text)).design
        with self._lock:
            self._refuse(design)
            if len(self._found) >= MOST:
                raise TooManyUploads
            name = _file_name(file) or f"{design.name}.{'yaml' if is_yaml(text) else 'json'}"
            upload = Upload(name, text, self._world.now(), design, self._db_of(design))
            _write(self.home, upload)
            self._found = {**self._found, design.name: upload}
        return upload

    def remove(self, name: str, delete_tables: Callable[[Db], None] | None = None) -> None:
        """Forget a design; tables first, so that what is interrupted can be repeated."""
        with self._lock:
            upload = self._found.get(name)
            if upload is None or self.home is None:
                return
            if delete_tables is not None:
                delete_tables(upload.db)
            _path(self.home, name).unlink(missing_ok=True)
            sync(self.home)
            self._found = {each: one for each, one in self._found.items() if each != name}

    def create_tables(self, name: str) -> None:
        """Make the tables that are missing; TableDiffers if one of that name is there and is another."""
        with self._lock:
            if name in self._found:
                self._found[name].db.create_tables()

    def _refuse(self, design: Design) -> None:
        refuse_name(design.name)
        if design.name in self._designs or design.name in self._found:
            raise SystemsClash("design", design.name)
        others = {table for each in self._found.values() for table in each.design.tables}
        for table in design.tables:
            if table in self._tables or table in others:
                raise SystemsClash("table", table)

    def _load(self) -> Iterable[str]:
        """Read the files; yields a sentence for each that cannot be used now."""
        if self.home is None or not self.home.is_dir():
            return
        for path in sorted(self.home.glob("*.json")):
            try:
                kept = json.loads(path.read_text("utf-8"))
                design = read_file(kept["text"], is_yaml=is_yaml(kept["text"])).design
                self._refuse(design)
                at = datetime.fromisoformat(kept["at"])
            except (DesignMistake, ValueError, KeyError, TypeError, OSError) as error:
                yield f"The uploaded design in {path} is not shown: {error}."
                continue
            upload = Upload(str(kept["file"]), kept["text"], at, design, self._db_of(design))
            self._found = {**self._found, design.name: upload}


def _path(home: Path, name: str) -> Path:
    return home / f"{name}.json"


def _write(home: Path, upload: Upload) -> None:
    private_directory(home)
    path = _path(home, upload.design.name)
    part = path.with_suffix(".part")
    with open(private_file(part, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as stream:
        json.dump({"file": upload.file, "at": upload.at.isoformat(), "text": upload.text}, stream)
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(path)
    sync(home)


def _file_name(given: str) -> str:
    """The last part of what a browser sent, in printable letters."""
    last = given.replace("\\", "/").rpartition("/")[2]
    return "".join(letter for letter in last if letter.isprintable())[:_LETTERS]
