"""What the design checker finds and this design accepts, with the reasons."""

from tablewright.systems.campus.design.base import CAMPUS

CAMPUS.accept(
    "CAP-SIZE",
    "it grows with what people enter for one item, not with use; a write over 400 KB is refused",
    "assignment.allowedFileTypes",
    "assignment.attachments",
    "course.gradeGroups",
    "course.letters",
    "course.sections",
    "draft.parts",
    "file.heldBy",
    "file.metadata",
    "file.tags",
    "mark.criteria",
    "mark.grades",
    "regrade.posts",
    "rubric.criteria",
    "submission.grades",
    "submission.memberIds",
    "submission.parts",
    "submission.scores",
    "team.memberIds",
)
CAMPUS.accept(
    "CAP-SIZE",
    "it holds the fields of one item or of one request, which have their own limits",
    "audit_entry.after",
    "audit_entry.before",
)
CAMPUS.accept("CAP-SIZE", "the values of one template, which names them", "message.values")
CAMPUS.accept(
    "KEY-PII",
    "a user is found by the address for sharing, as the document asks; it is stored normalised",
    "user.email",
)
CAMPUS.accept(
    "EXPR-SCAN",
    "read whole for reports, recounts and erasures, by staff and jobs",
    "every item of campus-cloud-users",
    "every item of campus-cloud-notifications",
)
CAMPUS.accept(
    "IDX-LOWCARD",
    "0.02 writes a second: assignments are few, and the index serves the list of what is due",
    "campus-cloud-assignments.StatusDueDateIndex",
)
CAMPUS.accept(
    "IDX-AMPLIFY",
    "the listings show the number of downloads; the cost report counts the units",
    "file.downloadCount",
)
CAMPUS.accept("KEY-PII", "an opaque id that the identity provider gives", "login.subject")
CAMPUS.accept("KEY-PII", "an opaque id of a user, made by this system", "team_membership.userId")
CAMPUS.accept(
    "IDX-LOWCARD",
    "0.6 writes a second into its table: enough until 100 times the load (docs/scale.md says which shard comes then)",
    "message.outboxKey",
    "task.taskKey",
)
CAMPUS.accept("IDX-LOWCARD", "0.002 writes a second: a semester has few courses", "course.allCoursesKey")
CAMPUS.accept(
    "IDX-LOWCARD", "sparse: only a version that waits for a review has the field", "file_version.reviewKey"
)
CAMPUS.accept(
    "CC-NOVERSION",
    "a change is refused unless the values that it replaces are as they were read",
    "message",
)
