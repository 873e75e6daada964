"""What the tests of shares need: people with UUIDs, files and folders with their rows alone, and a course."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from tests import places
from tests.systems.campus.talk import Place

from tablewright.edge import Principal
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import (
    Course,
    CourseRole,
    Enrolment,
    GroupSet,
    Team,
    TeamMembership,
)
from tablewright.systems.campus.jobs import run_tasks
from tablewright.systems.campus.model import File, Folder, Link, Share, User
from tablewright.systems.campus.sharing.addressees import RecipientName
from tablewright.systems.campus.sharing.links import LinkTerms
from tablewright.systems.campus.sharing.shares import Terms
from tablewright.systems.campus.sharing.targets import Target


@dataclass(frozen=True)
class Shared:
    """A campus with the means to share in a line."""

    at: Place

    # --- people and things ---

    def user(self, name: str, *roles: str, email: str = "") -> User:
        login = Principal(
            self.at.world.new_id(), frozenset(roles or ("student",)), email=email or f"{name}@campus.example"
        )
        return self.at.campus.users.entered(login)

    def file(self, owner: User, name: str = "essay.pdf", folder: Folder | None = None, **more: Any) -> File:
        now = self.at.campus.repository.now()
        file_id = self.at.world.new_id()
        given: dict[str, Any] = {
            "file_size": 5, "content_type": "application/pdf", "object_name": f"files/{file_id}/1", "bucket": "files",
            "upload_state": "complete", "uploaded_at": now, "virus_scan_status": "clean", "version_id": "1",
            "folder_id": folder.folder_id if folder else None, "place": folder.folder_id if folder else owner.user_id,
            **more,
        }  # fmt: skip
        file = File(user_id=owner.user_id, file_id=file_id, filename=name, last_modified=now, **given)
        self.at.db.write(d.files.create(file))
        return file

    def stored(self, owner: User, name: str, content: bytes, folder: Folder | None = None) -> File:
        """A file with its bytes, uploaded and scanned."""
        campus = self.at.campus
        folder_id = folder.folder_id if folder else None
        campus.uploads.store_whole(owner, name, [content], len(content), folder_id=folder_id)
        run_tasks(campus)
        return next(
            file for file in self.at.db.all(d.files_of_user(user_id=owner.user_id)) if file.filename == name
        )

    def link(self, owner: User, item: File | Folder, **terms: Any) -> tuple[Link, str]:
        """A link and its token."""
        campus = self.at.campus
        link = campus.links.create(owner, self.target(owner, item), LinkTerms(**terms))
        return link, campus.links.secrets.token(link.link_id)

    def folder(self, owner: User, name: str, parent: Folder | None = None) -> Folder:
        folder = Folder(
            user_id=owner.user_id, folder_id=self.at.world.new_id(), name=name,
            parent_id=parent.folder_id if parent else None, created_at=self.at.campus.repository.now(),
        )  # fmt: skip
        self.at.db.write(d.folders.create(folder))
        return folder

    def course(self, course_id: str = "CS101", **roles: User) -> Course:
        """A course; the names of arguments begin with the role: `student_1=lin`."""
        now = self.at.campus.repository.now()
        course = Course(
            course_id=course_id, name="Programming", semester="2030-SPRING", created_at=now, updated_at=now,
            semester_end=now + timedelta(days=90),
        )  # fmt: skip
        self.at.db.write(d.courses.create(course))
        for name, user in roles.items():
            self.enrol(user, course, name.partition("_")[0])  # type: ignore[arg-type]  # a role, as the docstring says
        return course

    def enrol(self, user: User, course: Course, role: CourseRole = "student") -> None:
        now = self.at.campus.repository.now()
        enrolment = Enrolment(
            user_id=user.user_id,
            course_id=course.course_id,
            role=role,
            name=user.name,
            email=user.email,
            enrolled_at=now,
        )
        self.at.db.write(d.enrolments.create(enrolment))

    def team(self, course: Course, *members: User) -> Team:
        now, group_set_id = self.at.campus.repository.now(), self.at.world.new_id()
        ids = [user.user_id for user in members]
        team = Team(
            course_id=course.course_id, group_set_id=group_set_id, team_id=self.at.world.new_id(), name="Team 1",
            member_ids=ids, created_at=now,
        )  # fmt: skip
        groups = GroupSet(
            course_id=course.course_id, group_set_id=group_set_id, name="Projects", created_at=now
        )
        self.at.db.write(d.group_sets.create(groups), d.teams.create(team))
        for user_id in ids:
            self.at.db.write(
                d.team_memberships.create(
                    TeamMembership(
                        course_id=course.course_id,
                        group_set_id=group_set_id,
                        user_id=user_id,
                        team_id=team.team_id,
                    )
                )
            )
        return team

    # --- sharing ---

    def target(self, owner: User, item: File | Folder) -> Target:
        targets = self.at.campus.targets
        if isinstance(item, File):
            return targets.file(owner, item.file_id)
        return targets.folder(owner, item.folder_id)

    def share(self, owner: User, item: File | Folder, *to: str | Course | Team, **terms: Any) -> list[Share]:
        campus = self.at.campus
        target = self.target(owner, item)
        found = campus.addressees.find(owner, [_named(one) for one in to])
        return [each.share for each in campus.shares.share(owner, target, found, Terms(**terms))]

    def read(self, user: User, file: File, write: bool = False) -> Share | None:
        """What the check says, about the file as it is."""
        current = self.at.campus.repository.file_of(file.user_id, file.file_id)
        return self.at.campus.file_access.check(user, current, write)

    def row(self, share: Share) -> dict[str, Any] | None:
        """A share as it is stored, whatever its end."""
        key = {"fileId": {"S": share.file_id}, "sharedWithUserId": {"S": share.shared_with_user_id}}
        table = self.at.db.physical("campus-cloud-shares")
        found = self.at.call("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True})
        item: dict[str, Any] | None = found.get("Item")
        return item

    def scan(self, table: str) -> list[dict[str, Any]]:
        return places.scan(self.at.db, self.at.call, table)

    def received(self, user: User, size: int = 20) -> list[Share]:
        campus = self.at.campus
        return list(campus.repository.page(campus.shares.with_user(user), size, None, user.user_id).items)

    def notices(self, user: User) -> list[str]:
        return [each.text for each in self.at.db.all(d.notifications_of_user(user_id=user.user_id))]

    def mails(self, address: str) -> list[str]:
        texts = self.at.campus.repository.outbox.texts
        found = [mail for mail in self.at.db.all(d.outbox.in_state("PENDING")) if mail.recipient == address]
        return [texts.text(mail, mail.message_id, address).body for mail in found]


def _named(one: str | Course | Team) -> RecipientName:
    if isinstance(one, Course):
        return RecipientName(course_id=one.course_id)
    if isinstance(one, Team):
        return RecipientName(course_id=one.course_id, group_set_id=one.group_set_id, team_id=one.team_id)
    return RecipientName(email=one)


@pytest.fixture
def campus_shares(at: Place) -> Shared:
    return Shared(at)
