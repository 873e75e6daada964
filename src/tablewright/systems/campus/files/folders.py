"""Folders of a user: a tree of at most ten levels (CC-X27).

Must hold: no folder is below itself, none is deeper than MAX_DEPTH, and siblings have different names. All three are
about several folders at once, so each change of a tree is conditional on the version of its top, a row of its own whose
id is the owner's: changes of one user's folders happen one after another.
A folder is None at the top. Elsewhere: the files of a folder (library.py), who else may use it (sharing/).
"""

from collections.abc import Callable, Container, Iterable, Iterator
from itertools import count
from typing import Any, TypeVar

from tablewright.design import Write
from tablewright.edge.errors import Conflict, NotFound, Refused
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, Stale
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.files.names import actor_of, checked_name
from tablewright.systems.campus.model import Folder, User
from tablewright.systems.campus.repository import Repository

MAX_DEPTH, MAX_FOLDERS = 10, 5000
# What one transaction can hold, with room for the rest of it.
_AT_ONCE = 90
R = TypeVar("R")
_RACES = (ConditionNotMet, Stale, AlreadyExists, Missing)


class Tree:
    """The folders of one user as they were read."""

    def __init__(self, top: Folder | None, rows: Iterable[Folder]) -> None:
        self.top = top
        self.by_id = {row.folder_id: row for row in rows if row.folder_id != row.user_id}

    def folder(self, folder_id: str) -> Folder:
        try:
            return self.by_id[folder_id]
        except KeyError:
            raise NotFound("folder") from None

    def children(self, parent_id: str | None) -> list[Folder]:
        """The folders directly in a folder, by name."""
        found = [one for one in self.by_id.values() if one.parent_id == parent_id]
        return sorted(found, key=lambda one: (one.name.casefold(), one.folder_id))

    def path(self, folder_id: str | None) -> list[Folder]:
        """A folder and those above it, the topmost first. A folder whose parent is gone counts as at the top."""
        steps: list[Folder] = []
        while folder_id is not None and folder_id in self.by_id and len(steps) <= MAX_DEPTH:
            steps.append(self.by_id[folder_id])
            folder_id = steps[-1].parent_id
        return steps[::-1]

    def below(self, folder_id: str) -> Iterator[Folder]:
        """The folders below a folder, parents first."""
        for child in self.children(folder_id):
            yield child
            yield from self.below(child.folder_id)

    def height(self, folder_id: str) -> int:
        """How many levels a folder and what is below it have."""
        return 1 + max((self.height(child.folder_id) for child in self.children(folder_id)), default=0)


class Folders:
    """The folders of a campus."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    # --- reads ---

    def tree(self, user_id: str) -> Tree:
        # The top first: if it is the same when a change is written, so is all that was read after it.
        top = self._repository.db.one(d.folders.get(user_id, user_id), consistent=True)
        return Tree(top, self._repository.db.all(d.folders_of_user(user_id=user_id)))

    def of(self, user: User, folder_id: str) -> Folder:
        """A folder that the user owns."""
        found = self._repository.folder(folder_id)
        if found.user_id != user.user_id or found.folder_id == user.user_id:
            raise NotFound("folder")
        return found

    # --- changes ---

    def create(self, user: User, name: str, parent_id: str | None = None) -> Folder:
        """A folder; FOLDER_EXISTS, FOLDER_TOO_DEEP, FOLDER_LIMIT."""
        folder = Folder(
            user_id=user.user_id,
            folder_id=self._repository.new_uuid(),
            parent_id=parent_id,
            name=checked_name(name, "name"),
            created_at=self._repository.now(),
        )

        def planned(tree: Tree) -> tuple[Folder, list[Write[Any]]]:
            if len(tree.by_id) >= MAX_FOLDERS:
                raise Refused("FOLDER_LIMIT", f"You can have at most {MAX_FOLDERS} folders.")
            _refuse_place(tree, folder, 1)
            return folder, [d.folders.create(folder)]

        return self._changed(user, planned)

    def change(self, user: User, folder_id: str, version: int | None = None, **fields: Any) -> Folder:
        """Rename a folder (`name`) or move it (`parent_id`, None for the top); FOLDER_CYCLE and those of `create`."""
        if "name" in fields:
            fields["name"] = checked_name(fields["name"], "name")

        def planned(tree: Tree) -> tuple[Folder, list[Write[Any]]]:
            before = tree.folder(folder_id)
            if version is not None and before.version != version:
                raise Changed
            after = before.model_copy(update=fields)
            if after.parent_id == folder_id or any(
                one.folder_id == after.parent_id for one in tree.below(folder_id)
            ):
                raise Refused("FOLDER_CYCLE", "A folder cannot be moved into itself.", "parentId")
            _refuse_place(tree, after, tree.height(folder_id))
            write = d.folders.change(before, after)
            return write.item or after, [write]

        return self._changed(user, planned)

    def remove(self, user: User, folder_id: str) -> list[Folder]:
        """Delete a folder with all below it, and return them. Its files are in the trash already (library.py)."""

        def planned(tree: Tree) -> tuple[list[Folder], list[Write[Any]]]:
            gone = [tree.folder(folder_id), *tree.below(folder_id)]
            if len(gone) > _AT_ONCE:
                raise Refused(
                    "FOLDER_TOO_LARGE", "This folder has too many folders. Delete those inside it first."
                )
            return gone, [d.folders.delete(one) for one in gone]

        return self._changed(user, planned)

    # --- transfer ---

    def copy(self, old: User, to: User) -> list[Folder]:
        """Give another user the folders of a user, with their ids, and return those of the user.

        Both have them then, until `remove_copied`. What was copied before is left as it is.
        """
        source = self.tree(old.user_id)
        roots = [one for one in source.by_id.values() if one.parent_id not in source.by_id]
        ordered = [one for root in roots for one in (root, *source.below(root.folder_id))]

        def planned(tree: Tree) -> tuple[int, list[Write[Any]]]:
            missing = [one for one in ordered if one.folder_id not in tree.by_id][:_AT_ONCE]
            taken = {one.name.casefold() for one in tree.children(None)}
            copies: list[Folder] = []
            for one in missing:
                update: dict[str, Any] = {"user_id": to.user_id}
                if one.parent_id not in source.by_id:
                    update |= {"parent_id": None, "name": _free_name(one.name, taken)}
                    taken.add(update["name"].casefold())
                copies.append(one.model_copy(update=update))
            return len(missing), [d.folders.create(each) for each in copies]

        known = self.tree(to.user_id).by_id
        left = sum(one.folder_id not in known for one in ordered)
        while left > 0:
            left -= self._changed(to, planned)
        return ordered

    def remove_copied(self, old: User, to: User) -> bool:
        """Delete the folders of a user that another has got; False if some were made since."""
        known = self.tree(to.user_id).by_id

        def planned(tree: Tree) -> tuple[int, list[Write[Any]]]:
            gone = [one for one in tree.by_id.values() if one.folder_id in known][:_AT_ONCE]
            return len(gone), [d.folders.delete(one) for one in gone]

        while any(folder_id in known for folder_id in self.tree(old.user_id).by_id):
            self._changed(old, planned)
        return not self.tree(old.user_id).by_id

    def _changed(self, user: User, planned: Callable[[Tree], tuple[R, list[Write[Any]]]]) -> R:
        """Plan a change on the tree as it is, and write it if the tree is still that."""
        repository = self._repository

        def attempt() -> R:
            tree = self.tree(user.user_id)
            result, writes = planned(tree)
            repository.db.write(
                *writes,
                self._top(user, tree),
                repository.audit(_subject(user), "folders changed", actor_of(user)),
            )
            return result

        return repository.retried(None, attempt, on=_RACES)

    def _top(self, user: User, tree: Tree) -> Write[Folder]:
        """The write that fails if the tree was changed since it was read."""
        if tree.top is None:
            top = Folder(
                user_id=user.user_id, folder_id=user.user_id, name="Files", created_at=self._repository.now()
            )
            return d.folders.create(top)
        version = tree.top.version
        same = d.folders.update(user.user_id, user.user_id).at(lambda f: f.name).set("Files")
        return same.when(lambda f: f.version == version)


def _subject(user: User) -> str:
    return f"user:{user.user_id}"


def _free_name(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it if it is taken."""
    numbered = (name if number == 1 else f"{name[:240]} ({number})" for number in count(1))
    return next(one for one in numbered if one.casefold() not in taken)


def _refuse_place(tree: Tree, folder: Folder, height: int) -> None:
    """FOLDER_TOO_DEEP, FOLDER_EXISTS or FOLDER_NOT_FOUND if a folder cannot be where it says."""
    if folder.parent_id is not None:
        tree.folder(folder.parent_id)
    if len(tree.path(folder.parent_id)) + height > MAX_DEPTH:
        raise Refused("FOLDER_TOO_DEEP", f"Folders can be at most {MAX_DEPTH} levels deep.", "parentId")
    for other in tree.children(folder.parent_id):
        if other.folder_id != folder.folder_id and other.name.casefold() == folder.name.casefold():
            raise Conflict("FOLDER_EXISTS", "There is a folder of this name here.", "name")
