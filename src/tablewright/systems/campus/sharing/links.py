"""Public links: who has one opens a file or a folder without an account (CC-X28, CC-D34).

A link reads and never writes; a file request (file_requests.py) is a link of the kind `drop`: it only takes files.
Must hold: a link is found by the digest of its token, so the table opens nothing; it ends at its end, which is never
later than the campus allows; of any number of downloads at once no more than its limit happen, by a condition of the
count; a link opens nothing that is quarantined, unscanned or in the trash, and nothing outside of its folder; all links
can be switched off.
Elsewhere: tokens and passwords (link_secrets.py), how many wrong ones (password_tries.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tablewright.design import absent
from tablewright.edge.errors import Forbidden, NotFound, Refused
from tablewright.english import size as in_words
from tablewright.kit.tables import Actor
from tablewright.mapping import ConditionNotMet
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import Gone, RaceLost
from tablewright.systems.campus.model import File, Folder, Link, LinkKind, Switch, User
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.settings import Settings
from tablewright.systems.campus.sharing.access_check import FileAccess
from tablewright.systems.campus.sharing.link_secrets import (
    LONGEST_PASSWORD,
    SHORTEST_PASSWORD,
    TOKEN_LENGTH,
    LinkSecrets,
    is_password,
    password_hash,
    token_digest,
)
from tablewright.systems.campus.sharing.password_tries import PasswordTries
from tablewright.systems.campus.sharing.targets import Target

MOST_DOWNLOADS = 1_000_000
# Of a file request whose owner says nothing.
LARGEST_FILE = 2 * 1024**3
LINK_PATH, DROP_PATH = "/console/campus/open/{token}", "/console/campus/send/{token}"
MOST_IN_FOLDER = 500
SWITCH = "links"


@dataclass(frozen=True, slots=True)
class LinkTerms:
    """What a new link allows. Without an end it has the default one."""

    kind: LinkKind = "view"
    title: str | None = None
    password: str | None = None
    view_only: bool = False
    expires_at: datetime | None = None
    download_limit: int | None = None
    max_file_size: int | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A link that its visitor may use, and what it leads to."""

    link: Link
    item: File | Folder
    owner: User


class Links:
    """The public links of a campus."""

    def __init__(
        self, repository: Repository, access: FileAccess, settings: Settings, secret: bytes, url: str = ""
    ) -> None:
        self._repository, self._access, self._settings = repository, access, settings
        self._url = url.rstrip("/")
        self.secrets = LinkSecrets(secret)
        self._tries = PasswordTries(repository, secret)

    # --- owners ---

    def ends(self) -> tuple[datetime, datetime]:
        """When a link ends if nothing is said, and the latest end it can have: both are shown when it is made."""
        now = self._repository.now().replace(microsecond=0)
        most = now + timedelta(days=self._settings.link_most_days)
        return min(now + timedelta(days=self._settings.link_default_days), most), most

    def create(self, owner: User, target: Target, terms: LinkTerms) -> Link:
        """A link to what this user owns; LINKS_OFF, INVALID_EXPIRY, INVALID_LIMIT, INVALID_PASSWORD."""
        self._refuse_off()
        self._refuse(terms, target)
        link_id = self._repository.new_uuid()
        password = terms.password
        link = Link(
            link_id=link_id,
            token_digest=token_digest(self.secrets.token(link_id)),
            owner_id=owner.user_id,
            target=target.kind,
            target_id=target.id,
            kind=terms.kind,
            title=(terms.title or "").strip() or None,
            password_hash=password_hash(password, self._repository.world) if password else None,
            view_only=terms.view_only,
            expires_at=(terms.expires_at or self.ends()[0]).replace(microsecond=0),
            download_limit=terms.download_limit,
            created_at=self._repository.now(),
            max_file_size=terms.max_file_size or LARGEST_FILE,
        )
        entry = self._entry(owner, "link made", link)
        self._repository.write(target.kind.upper(), d.links.create(link), target.check(), entry)
        return link

    def _refuse(self, terms: LinkTerms, target: Target) -> None:
        self._refuse_end(terms.expires_at)
        if terms.download_limit is not None and not 1 <= terms.download_limit <= MOST_DOWNLOADS:
            words = f"The number of downloads must be 1 to {MOST_DOWNLOADS}."
            raise Refused("INVALID_LIMIT", words, "downloadLimit")
        if terms.download_limit is not None and terms.view_only:
            words = "A link for viewing only has no downloads to limit."
            raise Refused("INVALID_LIMIT", words, "downloadLimit")
        if terms.max_file_size is not None and not 1 <= terms.max_file_size <= self._settings.largest_file:
            words = f"The largest file must be 1 byte to {in_words(self._settings.largest_file)}."
            raise Refused("INVALID_LIMIT", words, "maxFileSize")
        if terms.password is not None and not SHORTEST_PASSWORD <= len(terms.password) <= LONGEST_PASSWORD:
            words = f"A password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters."
            raise Refused("INVALID_PASSWORD", words, "password")
        if terms.title is not None and len(terms.title) > 200:
            raise Refused("INVALID_TITLE", "The title must have at most 200 characters.", "title")
        if terms.kind == "drop" and target.kind != "folder":
            raise Refused("FOLDER_NEEDED", "Files can be requested into a folder only.", "kind")

    def _refuse_end(self, at: datetime | None) -> None:
        if at is None:
            return
        _, most = self.ends()
        if at <= self._repository.now() or at > most + timedelta(days=1):  # the end of the last day
            words = (
                f"The end must be in the future, {self._settings.link_most_days} days from now at the latest."
            )
            raise Refused("INVALID_EXPIRY", words, "expiresAt")

    def of(self, owner: User) -> list[Link]:
        """A user's links, newest first; those that were revoked are gone."""
        found = self._repository.db.all(d.links_of_owner(owner_id=owner.user_id))
        return [link for link in found if link.revoked_at is None]

    def public_files(self, owner_id: str) -> set[str]:
        """The files of an owner that a link opens at this moment (CC-D34)."""
        now = self._repository.now()
        return {
            link.target_id
            for link in self._repository.db.all(d.links_of_owner(owner_id=owner_id))
            if link.kind == "view" and link.target == "file" and link.revoked_at is None
            if link.expires_at is None or link.expires_at > now
        }

    def to(self, target: Target) -> list[Link]:
        """The links to a file or folder."""
        found = self._repository.db.all(d.links_of_owner(owner_id=target.owner_id))
        return [link for link in found if link.target_id == target.id and link.revoked_at is None]

    def owned(self, owner: User, link_id: str) -> Link:
        """A link of this user, as it is."""
        found = self._repository.db.all(d.links_of_owner(owner_id=owner.user_id))
        digest = next((link.token_digest for link in found if link.link_id == link_id), None)
        link = self._repository.db.one(d.links.get(digest), consistent=True) if digest else None
        return self._repository.found(link, "LINK")

    def change(self, owner: User, link_id: str, changes: dict[str, Any]) -> Link:
        """Change `title`, `expires_at`, `download_limit` or `max_file_size`; LINK_REVOKED."""

        def attempt() -> Link:
            before = self.owned(owner, link_id)
            if before.revoked_at is not None:
                raise Gone("LINK_REVOKED", "This link was switched off.")
            after = before.model_copy(update=changes)
            end, limit = changes.get("expires_at"), after.download_limit
            most = changes.get("max_file_size")
            terms = LinkTerms(after.kind, after.title, None, after.view_only, end, limit, most)
            self._refuse(terms, Target(after.target, after.target_id, after.owner_id, ""))
            write = d.links.change(before, after)
            if not self._repository.try_write(write, self._entry(owner, "link changed", after)):
                raise RaceLost
            assert write.item is not None
            return write.item

        return self._repository.retried(None, attempt, on=RaceLost)

    def revoke(self, by: User, link_id: str, owner: User | None = None) -> None:
        """Switch a link off at once; again, it does nothing. An admin names the owner."""
        link = self.owned(owner or by, link_id)
        if link.revoked_at is None:
            update = (
                d.links.update(link.token_digest).at(lambda one: one.revoked_at).set(self._repository.now())
            )
            self._repository.write("LINK", update, self._entry(by, "link revoked", link))

    def address(self, link: Link) -> str:
        """The page of a link, as anyone can open it."""
        return self._url + (LINK_PATH if link.kind == "view" else DROP_PATH).format(
            token=self.secrets.token(link.link_id)
        )

    def _entry(self, by: User, action: str, link: Link) -> Any:
        shown = {
            "linkId": link.link_id,
            "kind": link.kind,
            "expiresAt": link.expires_at.isoformat() if link.expires_at else None,
            "downloadLimit": link.download_limit,
            "viewOnly": link.view_only,
            "hasPassword": link.password_hash is not None,
        }
        actor = Actor(by.name, "user", by.user_id, by.email)
        return self._repository.audit(f"{link.target}:{link.target_id}", action, actor, None, shown)

    # --- visitors ---

    def find(self, token: str) -> Link:
        """The link of a token, if it can be used now; LINK_NOT_FOUND, LINKS_OFF, LINK_REVOKED, LINK_EXPIRED."""
        if len(token) != TOKEN_LENGTH:
            raise NotFound("link", "There is no such link. Check that you copied all of it.")
        link = self._repository.db.one(d.links.get(token_digest(token)), consistent=True)
        if link is None:
            raise NotFound("link", "There is no such link. Check that you copied all of it.")
        self._refuse_off()
        if link.revoked_at is not None:
            raise Gone("LINK_REVOKED", "The owner switched this link off.")
        if link.expires_at is not None and link.expires_at <= self._repository.now():
            if link.kind == "drop":
                raise Forbidden(
                    "DROP_CLOSED", "The deadline has passed, so you can't send files here any more."
                )
            raise Forbidden("LINK_EXPIRED", "This link has ended. Ask its owner for another one.")
        return link

    def check_password(self, link: Link, password: str | None, caller: str) -> None:
        """As `refuse_password`; RATE_LIMIT after ten wrong ones of a caller in a minute."""
        if link.password_hash is None or not password:
            self.refuse_password(link, password)
            return
        with self._tries.counted(link.link_id, caller):
            self.refuse_password(link, password)

    def refuse_password(self, link: Link, password: str | None) -> None:
        """PASSWORD_NEEDED or WRONG_PASSWORD unless this is the link's password, or it has none."""
        if link.password_hash is None:
            return
        if not password:
            raise Forbidden("PASSWORD_NEEDED", "This link has a password. Enter it to go on.", "password")
        if not is_password(password, link.password_hash):
            raise Forbidden("WRONG_PASSWORD", "This password is wrong.", "password")

    def open(self, link: Link) -> Opened:
        """What a link leads to. Quarantined and deleted files, and files of suspended owners, are closed."""
        owner = self._repository.db.one(d.user_by_id(link.owner_id))
        if owner is None or owner.status == "suspended" or owner.erased_at is not None:
            raise NotFound("link")
        if link.target == "file":
            return Opened(link, self._file(link.owner_id, link.target_id), owner)
        folder = self._repository.db.one(d.folders.get(link.owner_id, link.target_id), consistent=True)
        if folder is None:
            raise Gone("DELETED", "The owner deleted this folder.")
        return Opened(link, folder, owner)

    def file(self, opened: Opened, file_id: str) -> File:
        """A file that the link leads to: the file itself, or one in its folder or below it."""
        if isinstance(opened.item, File):
            if file_id != opened.item.file_id:
                raise NotFound("file")
            return opened.item
        # By its id: while a folder is transferred, its files are of both owners.
        file = self._file(self._repository.file(file_id).user_id, file_id)
        if all(
            each.folder_id != opened.item.folder_id
            for each in self._access.above(file.user_id, file.folder_id)
        ):
            raise NotFound("file")
        return file

    def folder(self, opened: Opened, folder_id: str | None) -> Folder:
        """A folder that the link leads to: its own, or one below it."""
        if not isinstance(opened.item, Folder):
            raise NotFound("folder")
        if folder_id is None:
            return opened.item
        path = self._access.above(opened.link.owner_id, folder_id)
        if all(each.folder_id != opened.item.folder_id for each in path):
            raise NotFound("folder")
        return path[0]

    def contents(self, folder: Folder, *, locked: bool = False) -> tuple[list[Folder], list[File]]:
        """The folders and the files in a folder that visitors may see; with `locked` also files being checked."""
        db = self._repository.db
        below = [
            one
            for one in db.all(d.folders_of_user(user_id=folder.user_id))
            if one.parent_id == folder.folder_id
        ]
        return sorted(below, key=lambda one: one.name.casefold()), list(self._files_in(folder, locked))

    def _files_in(self, folder: Folder, locked: bool) -> Iterator[File]:
        found = self._repository.db.all(d.files_in_place(place=folder.folder_id))
        for _, file in zip(range(MOST_IN_FOLDER), found, strict=False):
            if file.status == "active" and (locked or not is_locked(self._access, file)):
                yield file

    def take(self, link: Link) -> None:
        """Count a download, exactly: DOWNLOAD_LIMIT if there is none left, LINK_REVOKED if it was switched off."""
        if link.view_only:
            raise Forbidden("VIEW_ONLY", "The owner allows viewing only, no downloads.")
        update = d.links.update(link.token_digest).at(lambda one: one.downloads).add(1)
        update = update.when(lambda one: absent(one.revoked_at))
        if link.download_limit is not None:
            update = update.when(lambda one: one.downloads < one.download_limit)  # type: ignore[operator]  # it has one
        try:
            self._repository.db.write(update)
        except ConditionNotMet as refused:
            current = refused.current
            if isinstance(current, Link) and current.revoked_at is not None:
                raise Gone("LINK_REVOKED", "The owner switched this link off.") from None
            words = "This link has no downloads left. Ask its owner for another one."
            raise Forbidden("DOWNLOAD_LIMIT", words) from None

    def _file(self, owner_id: str, file_id: str) -> File:
        file = self._repository.db.one(d.files.get(owner_id, file_id), consistent=True)
        if file is None or file.upload_state != "complete":
            raise NotFound("file")
        if file.status == "deleted":
            raise Gone("DELETED", "The owner deleted this file.")
        self._access.refuse_locked(file)
        return file

    # --- admins ---

    def are_on(self) -> bool:
        """Whether links can be used: not switched off by an admin, or in the settings."""
        if not self._settings.public_links:
            return False
        switch = self._repository.db.one(d.switches.get(SWITCH), consistent=True)
        return switch is None or not switch.is_off

    def switch(self, by: User, *, on: bool) -> None:
        """Switch all links of the campus on or off, at once on every node."""
        switch = Switch(name=SWITCH, is_off=not on)
        action = f"public links switched {'on' if on else 'off'}"
        entry = self._repository.audit("campus:links", action, Actor(by.name, "admin", by.user_id, by.email))
        self._repository.write("SWITCH", d.switches.put(switch), entry)

    def _refuse_off(self) -> None:
        if not self.are_on():
            raise Forbidden("LINKS_OFF", "Public links are switched off on this campus.")


def is_locked(access: FileAccess, file: File) -> bool:
    """Whether only its owner may have the bytes."""
    try:
        access.refuse_locked(file)
    except Refused:
        return True
    return False
