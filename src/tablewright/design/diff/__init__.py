"""Two versions of a design compared: what changes, what each change needs, and the beginning of a migration."""

from tablewright.design.diff.changes import Change, Needs
from tablewright.design.diff.designs import changes, first_of
from tablewright.design.diff.skeleton import load_lines, missing_import, skeleton

__all__ = ["Change", "Needs", "changes", "first_of", "load_lines", "missing_import", "skeleton"]
