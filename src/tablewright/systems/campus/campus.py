"""Campus Cloud as one value: everything it can do, over one database and one object store.

The API, the pages and the jobs use this value; nothing above it knows the tables.
"""

from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from itertools import islice
from pathlib import Path

from tablewright.kit.delivery import OutboxDispatch
from tablewright.kit.erased import FOLDER as ERASED
from tablewright.kit.erased import ErasedList
from tablewright.kit.objects.archive import Archive
from tablewright.kit.objects.settings import objects_of
from tablewright.kit.objects.signed_paths import SignedPaths
from tablewright.kit.objects.store import ObjectStore
from tablewright.kit.tasks import Handler, Worker
from tablewright.mapping import Db
from tablewright.systems.campus import design as d
from tablewright.systems.campus.courses.acceptance import Acceptance
from tablewright.systems.campus.courses.archive import CourseArchive
from tablewright.systems.campus.courses.assignments import Assignments
from tablewright.systems.campus.courses.course_names import CourseNames
from tablewright.systems.campus.courses.courses import Courses
from tablewright.systems.campus.courses.drafts import Drafts
from tablewright.systems.campus.courses.late_updates import LateUpdates
from tablewright.systems.campus.courses.owners import Owners
from tablewright.systems.campus.courses.parts import Parts
from tablewright.systems.campus.courses.receipts import Receipts
from tablewright.systems.campus.courses.reminders import Reminders
from tablewright.systems.campus.courses.roster import Roster
from tablewright.systems.campus.courses.submission_counts import SubmissionCounts
from tablewright.systems.campus.courses.submissions import Submissions
from tablewright.systems.campus.courses.teams import Teams
from tablewright.systems.campus.courses.withdrawals import Withdrawals
from tablewright.systems.campus.files.download_counts import DownloadCounts
from tablewright.systems.campus.files.file_lists import Listing
from tablewright.systems.campus.files.folders import Folders
from tablewright.systems.campus.files.library import Library
from tablewright.systems.campus.files.previews import Previews
from tablewright.systems.campus.files.purge import Purge
from tablewright.systems.campus.files.recount import Recount
from tablewright.systems.campus.files.scan import Scans, scanner_of
from tablewright.systems.campus.files.uploads import Uploads
from tablewright.systems.campus.files.versions import Versions
from tablewright.systems.campus.grading.allocation import Allocation
from tablewright.systems.campus.grading.comments import Comments
from tablewright.systems.campus.grading.disclosure import Pseudonyms
from tablewright.systems.campus.grading.feedback_files import FeedbackFiles
from tablewright.systems.campus.grading.grade_import import GradeImport
from tablewright.systems.campus.grading.gradebook import Gradebook
from tablewright.systems.campus.grading.hand_grades import HandGrades
from tablewright.systems.campus.grading.marks import Marks
from tablewright.systems.campus.grading.notices import GradeNotices
from tablewright.systems.campus.grading.regrades import Regrades
from tablewright.systems.campus.grading.release import Release
from tablewright.systems.campus.grading.rubrics import Rubrics
from tablewright.systems.campus.grading.worksheet import Worksheets
from tablewright.systems.campus.model import Message, Task
from tablewright.systems.campus.people.notifications import Notifier
from tablewright.systems.campus.people.privacy import Privacy
from tablewright.systems.campus.people.transfer import Transfer
from tablewright.systems.campus.people.users import Users
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.settings import Settings
from tablewright.systems.campus.sharing.access_check import FileAccess
from tablewright.systems.campus.sharing.addressees import Addressees
from tablewright.systems.campus.sharing.file_requests import FileRequests
from tablewright.systems.campus.sharing.links import Links
from tablewright.systems.campus.sharing.pending_shares import claim_pending, has_pending
from tablewright.systems.campus.sharing.received import ReceivedShares
from tablewright.systems.campus.sharing.share_jobs import ShareJobs
from tablewright.systems.campus.sharing.shares import Shares
from tablewright.systems.campus.sharing.targets import Targets
from tablewright.world import World

# Links to objects of a directory lead here; in a bucket, to the bucket.
OBJECTS_PATH = "/campus/v1/objects/"
# Longer than the scan of the largest file.
TASK_LEASE = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Campus:
    """The parts of Campus Cloud."""

    repository: Repository
    settings: Settings
    users: Users
    notifier: Notifier
    transfer: Transfer
    privacy: Privacy
    objects: ObjectStore
    signed_paths: SignedPaths
    uploads: Uploads
    library: Library
    listing: Listing
    folders: Folders
    versions: Versions
    scans: Scans
    purge: Purge
    recount: Recount
    download_counts: DownloadCounts
    file_access: FileAccess
    targets: Targets
    addressees: Addressees
    shares: Shares
    share_jobs: ShareJobs
    links: Links
    file_requests: FileRequests
    received: ReceivedShares
    previews: Previews
    courses: Courses
    roster: Roster
    teams: Teams
    assignments: Assignments
    owners: Owners
    drafts: Drafts
    submissions: Submissions
    receipts: Receipts
    withdrawals: Withdrawals
    late_updates: LateUpdates
    reminders: Reminders
    submission_counts: SubmissionCounts
    archive: CourseArchive
    course_names: CourseNames
    pseudonyms: Pseudonyms
    rubrics: Rubrics
    marks: Marks
    feedback_files: FeedbackFiles
    comments: Comments
    regrades: Regrades
    allocation: Allocation
    release: Release
    hand_grades: HandGrades
    worksheets: Worksheets
    gradebook: Gradebook
    grade_import: GradeImport
    dispatch: OutboxDispatch[Message]

    def worker(self) -> Worker[Task]:
        """Runs the tasks of all parts, by their kind."""
        handlers: dict[str, Handler[Task]] = {
            "scan": self.scans.run,
            "upload": self.uploads.expire,
            "share": self.share_jobs.tell_group,
            "late": self.late_updates.run,
            "published": self.reminders.announce,
            "reminder": self.reminders.remind,
            "withdrawn": self.withdrawals.clear,
            "feedback": self.feedback_files.check,
            "archive": self.archive.run,
            "course name": self.course_names.run,
            "rubric": lambda task: self.rubrics.run(task, self.marks.recompute),
            "release": self.release.run,
            "transfer": self.transfer.run,
        }
        # Retried for ever: a scanner may be away for days, and there is no page to start a parked task again.
        return Worker(d.tasks, self.repository.db, handlers, lease=TASK_LEASE, park_after=None)

    def waiting_tasks(self, at_most: int = 100) -> list[Task]:
        """Background work that is due within a day, which is also all that has failed; what is due first first."""
        until = self.repository.now() + timedelta(days=1)
        return list(islice(self.repository.db.all(d.tasks.by_state(state="OPEN", until=until)), at_most))


def open_campus(
    db: Db,
    world: World,
    secret: bytes,
    *,
    home: Path,
    url: str = "",
    settings: Settings | None = None,
    objects: ObjectStore | None = None,
    objects_url: str | None = None,
) -> Campus:
    """Campus Cloud over a database.

    `secret` keys the seal of messages, links, signed downloads, receipts and pseudonyms. `home` is the directory for
    objects and the list of the erased, unless `objects` or `objects_url` are given. `url` is the public address, for
    links in mails.
    """
    settings = settings or Settings()
    repository = Repository(db, world, secret)
    users = Users(repository, settings)
    notifier = Notifier(repository, url)
    file_access = FileAccess(repository, settings)
    signed_paths = SignedPaths(OBJECTS_PATH, sha256(b"campus objects\n" + secret).digest(), world)
    folders_of_objects = ("files", "archive", ERASED)
    objects = objects or objects_of(home, "objects", folders_of_objects, world, signed_paths, at=objects_url)
    folders, download_counts = Folders(repository), DownloadCounts(repository)
    library = Library(repository, objects, file_access, folders, download_counts)
    uploads = Uploads(repository, objects, file_access, notifier, settings)
    purge = Purge(repository, objects, library, settings)
    links = Links(repository, file_access, settings, secret, url)
    users.on_first_login.append(lambda user: claim_pending(repository, user))
    users.also_admitted.append(lambda address: has_pending(repository, address))
    courses = Courses(repository, users)
    teams = Teams(repository, courses)
    acceptance, owners = Acceptance(repository), Owners(repository, teams)
    assignments = Assignments(repository, teams, acceptance)
    parts = Parts(repository, library, file_access)
    drafts = Drafts(repository, owners, parts, acceptance)
    rubrics, grade_notices = Rubrics(repository), GradeNotices(repository, notifier)
    feedback_files = FeedbackFiles(repository, library)
    marks = Marks(repository, rubrics, grade_notices, feedback_files)
    pseudonyms = Pseudonyms(sha256(b"campus pseudonyms\n" + secret).digest())
    hand_grades = HandGrades(repository, teams, marks, rubrics, pseudonyms)
    gradebook = Gradebook(repository)
    return Campus(
        repository=repository,
        settings=settings,
        users=users,
        notifier=notifier,
        transfer=Transfer(repository, notifier, folders),
        privacy=Privacy(repository, ErasedList(objects), library, purge, uploads, file_access),
        objects=objects,
        signed_paths=signed_paths,
        uploads=uploads,
        library=library,
        listing=Listing(repository),
        folders=folders,
        versions=Versions(repository, library, file_access),
        scans=Scans(
            repository, objects, scanner_of(settings.scanner, settings.signature_checksums), notifier
        ),
        purge=purge,
        recount=Recount(repository, folders),
        download_counts=download_counts,
        file_access=file_access,
        targets=Targets(repository, file_access),
        addressees=Addressees(repository, users),
        shares=Shares(repository, notifier, url),
        share_jobs=ShareJobs(repository, notifier),
        links=links,
        file_requests=FileRequests(repository, links, uploads, folders, notifier),
        received=ReceivedShares(repository, file_access),
        previews=Previews(objects, secret, world),
        courses=courses,
        roster=Roster(repository, users, courses),
        teams=teams,
        assignments=assignments,
        owners=owners,
        drafts=drafts,
        submissions=Submissions(repository, library, owners, parts, drafts, acceptance),
        receipts=Receipts(sha256(b"campus receipts\n" + secret).digest()),
        withdrawals=Withdrawals(repository, library, owners, feedback_files),
        late_updates=LateUpdates(repository),
        reminders=Reminders(repository, notifier, teams),
        submission_counts=SubmissionCounts(repository, assignments),
        course_names=CourseNames(repository),
        archive=CourseArchive(
            repository, library, feedback_files, Archive(objects, world), settings.archive_years
        ),
        pseudonyms=pseudonyms,
        rubrics=rubrics,
        marks=marks,
        feedback_files=feedback_files,
        comments=Comments(repository),
        regrades=Regrades(repository, grade_notices),
        allocation=Allocation(repository),
        release=Release(repository, grade_notices),
        hand_grades=hand_grades,
        worksheets=Worksheets(
            repository, marks, rubrics, library, uploads, pseudonyms, parts, feedback_files
        ),
        gradebook=gradebook,
        grade_import=GradeImport(repository, gradebook, marks, rubrics, hand_grades),
        dispatch=repository.outbox.dispatch(),
    )
