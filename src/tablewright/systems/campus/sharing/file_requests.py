"""File requests: links through which anyone sends files into a folder and sees nothing (CC-X28, CC-S19).

Each sender gets a folder of their own inside the link's, and a ticket for it. Must hold: without the ticket no one sees
or changes what a sender has sent, and with it only that; the quota is the owner's, and of what is free all senders
together reserve at most a quarter; from the deadline on everything is 403, also what has begun before.
Elsewhere: the link itself (links.py), the bytes (files/uploads.py).
"""

from dataclasses import dataclass

from tablewright.edge.errors import Conflict, Forbidden, NotFound, Refused
from tablewright.english import size as in_words
from tablewright.kit.tables import Actor
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import TooLarge
from tablewright.systems.campus.files.folders import Folders
from tablewright.systems.campus.files.names import checked_name
from tablewright.systems.campus.files.uploads import Uploads
from tablewright.systems.campus.model import File, Folder, Link, Upload, User
from tablewright.systems.campus.people.notifications import Notifier
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.sharing.links import Links

LONGEST_NAME = 80
MOST_SENDERS = 200
_NAMES_TRIED = 20


@dataclass(frozen=True, slots=True)
class Sender:
    """Someone who sends files: their folder, and what proves that it is theirs."""

    folder: Folder
    ticket: str


class FileRequests:
    """Takes files through links."""

    def __init__(
        self, repository: Repository, links: Links, uploads: Uploads, folders: Folders, notifier: Notifier
    ) -> None:
        self._repository, self._links = repository, links
        self._uploads, self._folders, self._notifier = uploads, folders, notifier

    def find(self, token: str) -> Link:
        """An open file request; DROP_CLOSED from its deadline on, LINK_NOT_FOUND for links of other kinds."""
        link = self._links.find(token)
        if link.kind != "drop":
            raise NotFound("link")
        return link

    def owner(self, link: Link) -> User:
        return self._links.open(link).owner

    # --- senders ---

    def enter(self, link: Link, name: str) -> Sender:
        """A folder for a new sender, with a name that no other has."""
        owner, wanted = self.owner(link), " ".join(name.split())
        if not 1 <= len(wanted) <= LONGEST_NAME:
            raise Refused("INVALID_NAME", f"Enter your name, at most {LONGEST_NAME} characters.", "name")
        checked_name(wanted, "name")
        if len(self._folders.tree(owner.user_id).children(link.target_id)) >= MOST_SENDERS:
            raise Forbidden(
                "DROP_FULL", "Too many people have already sent files here. Ask the owner for another link."
            )
        for number in range(1, _NAMES_TRIED + 1):
            try:
                tried = wanted if number == 1 else f"{wanted} ({number})"
                folder = self._folders.create(owner, tried, link.target_id)
                return Sender(folder, self._ticket(link, folder.folder_id))
            except Conflict as taken:
                if taken.code != "FOLDER_EXISTS":
                    raise
        raise Refused("INVALID_NAME", "Too many senders have this name. Add something to it.", "name")

    def sender(self, link: Link, ticket: str | None) -> Sender:
        """The sender of a ticket; TICKET_NEEDED for anything else."""
        folder_id, _, signature = (ticket or "").partition(".")
        if not self._links.secrets.is_ticket(signature, link.link_id, folder_id):
            raise Forbidden("TICKET_NEEDED", "Enter your name first.", "name")
        folder = self._repository.db.one(d.folders.get(link.owner_id, folder_id), consistent=True)
        if folder is None:
            raise Forbidden("TICKET_NEEDED", "The owner removed your folder. Enter your name again.", "name")
        return Sender(folder, ticket or "")

    def _ticket(self, link: Link, folder_id: str) -> str:
        return f"{folder_id}.{self._links.secrets.ticket(link.link_id, folder_id)}"

    # --- files ---

    def begin(
        self,
        link: Link,
        sender: Sender,
        *,
        filename: str,
        size: int,
        content_type: str,
        checksum: str | None = None,
    ) -> Upload:
        """A slot in the sender's folder. How much room the owner has is not told to strangers."""
        if size > link.max_file_size:
            facts = {"size": size, "most": link.max_file_size}
            words = f"A file has at most {in_words(link.max_file_size)} here."
            raise TooLarge("FILE_TOO_LARGE", words, "fileSize", facts)
        try:
            return self._uploads.begin(
                self.owner(link),
                filename=filename,
                size=size,
                content_type=content_type,
                checksum=checksum,
                folder_id=sender.folder.folder_id,
                owner_id=link.owner_id,
                purpose="drop",
                link_id=link.link_id,
            )
        except TooLarge as refused:
            if refused.code != "QUOTA_EXCEEDED":
                raise
            words = "The owner of this folder has no room for this file now. Try again later, or tell them."
            raise TooLarge("QUOTA_EXCEEDED", words, "fileSize") from None

    def upload(self, link: Link, sender: Sender, upload_id: str) -> Upload:
        """An upload of this sender."""
        upload = self._repository.upload(upload_id)
        if (upload.link_id, upload.folder_id) != (link.link_id, sender.folder.folder_id):
            raise NotFound("upload")
        return upload

    def begun(self, link: Link, sender: Sender) -> list[Upload]:
        """What this sender began to send and can go on with, newest first."""
        now, place = self._repository.now(), (link.link_id, sender.folder.folder_id)
        found = self._repository.db.all(d.uploads_of_user(owner_id=link.owner_id))
        return [one for one in found if (one.link_id, one.folder_id) == place and one.expires_at > now]

    def complete(self, link: Link, sender: Sender, upload_id: str, checksum: str | None = None) -> File:
        """The file is in the owner's folder, and the owner is told; again, it returns the same."""
        if not self._uploads.was_completed(upload_id):
            self.upload(link, sender, upload_id)
        file = self._uploads.complete(upload_id, checksum)
        if file.folder_id != sender.folder.folder_id:
            raise NotFound("upload")
        self._record(link, sender, file, upload_id)
        return file

    def _record(self, link: Link, sender: Sender, file: File, upload_id: str) -> None:
        name = sender.folder.name
        text = f"{name} sent you “{file.filename}”."
        at = f"/console/campus/files?folder={sender.folder.folder_id}"
        entry = self._repository.audit(f"file:{file.file_id}", "sent through a link", Actor(name, "visitor"))
        count = d.links.update(link.token_digest).at(lambda one: one.uploads).add(1)
        told = self._notifier.tell(self.owner(link), "share", text, link=at)
        self._repository.db.write(entry, count, *told, once=f"drop/{upload_id}")

    def sent(self, sender: Sender) -> list[File]:
        """What this sender has sent, newest first."""
        found = self._repository.db.page(d.files_in_place(place=sender.folder.folder_id), size=100)
        return [file for file in found.items if file.status != "deleted"]
