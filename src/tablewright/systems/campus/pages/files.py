"""My files: folders, lists, uploads, the details of a file with its versions, and the trash.

Must hold: reading works without a script, and so does everything but uploading. What a page offers is what its reader
may do: others than the owner see no way to rename, move, share or delete.
Elsewhere: uploads (static/upload.js), sharing (shares.py), previews (preview_cards.py).
"""

from dataclasses import dataclass
from typing import Any, get_args

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.english import plural
from tablewright.pages.forms import Asked, Form, Posted
from tablewright.pages.layout import Crumb
from tablewright.pages.lists import here
from tablewright.systems.campus.access import Me
from tablewright.systems.campus.files.file_lists import ANYWHERE, TRASH, Listed, Sort, Wanted
from tablewright.systems.campus.files.folders import Tree
from tablewright.systems.campus.files.readers import of_user
from tablewright.systems.campus.model import File, FileVersion, Folder, User
from tablewright.systems.campus.pages.page import HOME, CampusPages
from tablewright.systems.campus.pages.preview_cards import card_of

FILES, TRASH_PAGE = f"{HOME}/files", f"{HOME}/trash"
SCAN_WORDS = {
    "clean": ("checked", "good"),
    "pending": ("being checked", "busy"),
    "infected": ("virus found", "bad"),
    "unscanned": ("not scanned", "warn"),
}
_PAGE_SIZE = 20


@dataclass(frozen=True, slots=True)
class FilePage:
    """A page of a list, with the addresses of the others."""

    items: tuple[File, ...]
    next: str | None
    first: str | None
    previous: str | None = None


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version as its list shows it."""

    version: FileVersion
    by: str
    is_current: bool


def add_files(router: APIRouter, pages: CampusPages) -> None:
    _add_lists(router, pages)
    _add_folders(router, pages)
    _add_file(router, pages)
    _add_versions(router, pages)


# --- lists ---


def _add_lists(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/files")
    def my_files(request: Request, user: Me, form: Asked) -> Response:
        return files_page(pages, request, user, form)

    @router.get("/trash")
    def trash(request: Request, user: Me) -> Response:
        listing = _listed(
            request, campus.listing.page(user, _wanted(Form(), TRASH), _PAGE_SIZE, _after(request))
        )
        days = campus.settings.trash_days
        return pages.page(request, "trash", title="Trash", user=user, listing=listing, days=days)

    @router.get("/trash/empty")
    def ask_empty(request: Request, user: Me) -> Response:
        return pages.console.confirm(
            request,
            title="Empty the trash",
            happens="All files in the trash are removed for good, with all their versions. Files that you have "
            "submitted stay available to your graders.",
            button="Remove them for good",
            back=TRASH_PAGE,
        )

    @router.post("/trash/empty")
    def empty(user: Me) -> Response:
        count = campus.purge.empty_trash(user)
        return pages.console.go(TRASH_PAGE, f"{plural(count, 'file')} removed for good.")


def files_page(
    pages: CampusPages,
    request: Request,
    user: User,
    form: Form,
    folder_form: Form | None = None,
    new_form: Form | None = None,
    status: int = 200,
) -> Response:
    """A folder, or what a search finds in all folders."""
    campus, tree = pages.campus, pages.campus.folders.tree(user.user_id)
    folder = tree.folder(form.get("folder")) if form.get("folder") else None
    wanted = _wanted(form, folder.folder_id if folder else None)
    found = campus.listing.page(user, wanted, _PAGE_SIZE, _after(request))
    is_begin = _after(request) is None
    return pages.page(
        request,
        "files",
        title=folder.name if folder else "My files",
        crumbs=_crumbs(tree, folder),
        user=campus.users.by_id(user.user_id),
        folder=folder,
        folders=tree.children(folder.folder_id if folder else None)
        if is_begin and not wanted.is_search
        else [],
        paths=_paths(tree),
        listing=_listed(request, found),
        unfinished=campus.uploads.begun(user),
        wanted=wanted,
        scan_words=SCAN_WORDS,
        form=form,
        folder_form=folder_form
        or Form({"name": folder.name, "parent": folder.parent_id or ""} if folder else {}),
        new_form=new_form or Form(),
        places=_places(tree, folder),
        status=status,
    )


def _wanted(form: Form, place: str | None) -> Wanted:
    """What the address asks for; a search is in all folders."""
    sort = form.get("sort")
    order: Sort = "name" if sort == "name" else "size" if sort == "size" else "date"
    wanted = Wanted(place, form.get("q")[:200], form.get("tag")[:50], order, form.get("order") != "asc")
    if sort in get_args(Sort) and not form.get("order"):
        wanted = Wanted(place, wanted.text, wanted.tag, order, order != "name")
    is_everywhere = wanted.is_search and place != TRASH
    return Wanted(ANYWHERE, wanted.text, wanted.tag, order, wanted.descending) if is_everywhere else wanted


def _listed(request: Request, found: Listed) -> FilePage:
    next_page = here(request, after=found.next) if found.next else None
    return FilePage(found.items, next_page, here(request, after=None) if _after(request) else None)


def _after(request: Request) -> str | None:
    return request.query_params.get("after") or None


def _crumbs(tree: Tree, folder: Folder | None) -> tuple[Crumb, ...]:
    if folder is None:
        return ()
    above = tree.path(folder.parent_id)
    steps = [Crumb("My files", FILES), *(Crumb(one.name, folder_path(one.folder_id)) for one in above)]
    return (*steps, Crumb(folder.name))


def folder_path(folder_id: str | None) -> str:
    return f"{FILES}?folder={folder_id}" if folder_id else FILES


def _paths(tree: Tree) -> dict[str, str]:
    """The folders in words: `Maths / Term 2`."""
    return {one: " / ".join(step.name for step in tree.path(one)) for one in tree.by_id}


def _places(tree: Tree, moved: Folder | None = None) -> list[tuple[str, str]]:
    """The folders that something can be moved to; not a folder itself or those below it."""
    without = {moved.folder_id, *(one.folder_id for one in tree.below(moved.folder_id))} if moved else set()
    named = [(one, words) for one, words in _paths(tree).items() if one not in without]
    return [("", "My files"), *sorted(named, key=lambda pair: pair[1].casefold())]


# --- folders ---


def _add_folders(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.post("/files/folders")
    def create(request: Request, user: Me, form: Posted) -> Response:
        parent = form.get("parent") or None
        try:
            made = campus.folders.create(user, form.get("name"), parent)
        except CallerError as mistake:
            wrong = form.refused(mistake)
            asked = Form({"folder": parent or ""})
            return files_page(pages, request, user, asked, new_form=wrong, status=mistake.status)
        return pages.console.go(folder_path(made.folder_id), f"{made.name} is created.")

    @router.post("/folders/{folder_id}")
    def change(request: Request, user: Me, folder_id: str, form: Posted) -> Response:
        try:
            name, parent = form.get("name"), form.get("parent") or None
            folder = campus.folders.of(user, folder_id)
            changed = campus.folders.change(user, folder.folder_id, name=name, parent_id=parent)
        except CallerError as mistake:
            wrong = form.refused(mistake)
            asked = Form({"folder": folder_id})
            return files_page(pages, request, user, asked, folder_form=wrong, status=mistake.status)
        return pages.console.go(folder_path(folder_id), f"{changed.name} is saved.")

    @router.get("/folders/{folder_id}/delete")
    def ask_delete(request: Request, user: Me, folder_id: str) -> Response:
        folder = campus.folders.of(user, folder_id)
        return pages.console.confirm(
            request,
            title=f"Delete {folder.name}",
            happens="The folder and those inside it are deleted. Their files go to the trash.",
            button="Delete folder",
            back=folder_path(folder_id),
            undo=f"For {campus.settings.trash_days} days you can restore the files from the trash.",
        )

    @router.post("/folders/{folder_id}/delete")
    def delete(user: Me, folder_id: str) -> Response:
        folder = campus.folders.of(user, folder_id)
        count = campus.library.trash_folder(user, folder_id)
        words = f"{folder.name} is deleted; {plural(count, 'file')} went to the trash."
        return pages.console.go(folder_path(folder.parent_id), words)


# --- one file ---


def _add_file(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/files/{file_id}")
    def detail(request: Request, user: Me, file_id: str) -> Response:
        file = campus.library.shown(user, file_id)
        if (share := campus.file_access.share_of(user, file)) is not None:
            campus.file_access.used(share)  # the page shows its content
        return file_page(pages, request, user, file)

    @router.post("/files/{file_id}")
    def change(request: Request, user: Me, file_id: str, form: Posted) -> Response:
        file = campus.library.shown(user, file_id)
        given: dict[str, Any] = {"description": form.get("description"), "tags": form.get("tags").split(",")}
        if file.user_id == user.user_id:
            given |= {"filename": form.get("filename"), "folder_id": form.get("folder") or None}
        try:
            campus.library.edit(user, file_id, given, _number(form.get("version")))
        except CallerError as mistake:
            return file_page(pages, request, user, file, form.refused(mistake), mistake.status)
        return pages.console.go(f"{FILES}/{file_id}", "Your changes are saved.")

    @router.post("/files/{file_id}/delete")
    def delete(user: Me, file_id: str) -> Response:
        file = campus.library.trash(user, file_id)
        days = campus.settings.trash_days
        words = f"{file.filename} is in the trash. You can restore it for {days} days."
        return pages.console.go(folder_path(file.folder_id), words)

    @router.post("/files/{file_id}/restore")
    def restore(user: Me, file_id: str) -> Response:
        file = campus.library.restore(user, file_id)
        return pages.console.go(TRASH_PAGE, f"{file.filename} is restored.")


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def file_page(
    pages: CampusPages, request: Request, user: User, file: File, form: Form | None = None, status: int = 200
) -> Response:
    campus, is_owner = pages.campus, file.user_id == user.user_id
    tree = campus.folders.tree(user.user_id) if is_owner else Tree(None, ())
    folder = tree.by_id.get(file.folder_id or "")
    typed = {
        "filename": file.filename,
        "folder": file.folder_id or "",
        "description": file.description or "",
        "tags": ", ".join(file.tags),
    }
    trail = (*_crumbs(tree, folder)[:-1], Crumb(folder.name, folder_path(folder.folder_id))) if folder else ()
    home = Crumb("My files", FILES) if is_owner else Crumb("Shared with me", f"{HOME}/shared")
    return pages.page(
        request,
        "file",
        title=file.filename,
        crumbs=(*(trail or (home,)), Crumb(file.filename)),
        user=user,
        file=file,
        is_owner=is_owner,
        may_write=is_owner or _may_write(pages, user, file),
        versions=_version_rows(pages, file),
        places=_places(tree),
        scan_words=SCAN_WORDS,
        card=card_of(campus, file, of_user(user.user_id)) if file.status == "active" else None,
        form=form or Form(typed),
        status=status,
    )


def _may_write(pages: CampusPages, user: User, file: File) -> bool:
    try:
        pages.campus.library.readable(user, file.file_id, write=True)
    except CallerError:
        return False
    return True


# --- versions ---


def _add_versions(router: APIRouter, pages: CampusPages) -> None:
    @router.post("/files/{file_id}/versions/{number}/restore")
    def restore_version(user: Me, file_id: str, number: int) -> Response:
        pages.campus.versions.restore(user, file_id, number)
        return pages.console.go(f"{FILES}/{file_id}", f"Version {number} is the current one again.")


def _version_rows(pages: CampusPages, file: File) -> list[VersionRow]:
    names: dict[str, str] = {}
    rows = []
    for version in pages.campus.versions.of(file):
        if version.created_by not in names:
            names[version.created_by] = _name_of(pages, version.created_by)
        is_current = version.version_id == file.version_id
        rows.append(VersionRow(version, names[version.created_by], is_current))
    return rows


def _name_of(pages: CampusPages, user_id: str) -> str:
    try:
        return pages.campus.users.by_id(user_id).name
    except CallerError:
        return "a former user"
