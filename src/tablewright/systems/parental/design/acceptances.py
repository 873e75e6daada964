"""What the design checker finds and this design accepts, with the reasons."""

from tablewright.systems.parental.design.base import PARENTAL

PARENTAL.accept(
    "CAP-SIZE",
    "it grows with what people enter for one item, not with use; a write over 400 KB is refused",
    "app.defaultPorts",
    "app.domains",
    "app.ipRanges",
    "family.allowedDomains",
    "policy.blockedApps",
    "policy.timeWindows",
    "action.applied",
    "action.policyIds",
    "rule.policyIds",
    "message.children",
)
PARENTAL.accept(
    "CAP-SIZE",
    "it holds the fields of one item or of one request, which have their own limits",
    "family_audit.after",
    "family_audit.before",
    "action.ftdResponse",
    "quarantined.events",
)
PARENTAL.accept("CAP-SIZE", "the values of one template, which names them", "message.values")
PARENTAL.accept(
    "CAP-SIZE",
    "one entry for each of a fixed set: hours, types, guardrails, scopes, places in the world",
    "metric.hourly",
)
PARENTAL.accept(
    "KEY-PII",
    "the document's key; items lie under the child's tenure of its number, which ends with it",
    "child.childPhoneNumber",
    "number_proof.phone",
)
PARENTAL.accept(
    "KEY-PII",
    "the document's index: a parent's policies and metrics are listed by the address",
    "metric.parentEmail",
    "policy.parentEmail",
    "invitation.email",
)
PARENTAL.accept(
    "KEY-PII",
    "a private address of the network, in the index only while it is in use",
    "rule.livePrivateIP",
    "session.livePrivateIP",
)
PARENTAL.accept(
    "KEY-CASE",
    "the service stores and looks up the normalised address (field_rules.email_address)",
    "invitation.email",
)
PARENTAL.accept(
    "EXPR-SCAN",
    "some hundred applications, held in a cache that the stream refreshes",
    "every item of ApplicationRegistry",
)
PARENTAL.accept(
    "IDX-LOWCARD", "sparse: only what failed or waits is in it", "EnforcementHistory.StatusTimestampIndex"
)
PARENTAL.accept(
    "IDX-AMPLIFY",
    "the index serves the reader that needs the newest value; the cost report counts its units",
    "FTDRuleMapping.DeviceIndex",
    "ParentalFamilies.ListIndex",
    "rule.lastVerified",
    "metric.blockedCount",
    "session.lastSeenAt",
    "wake.at",
)
PARENTAL.accept(
    "IDX-LOWCARD",
    "2.8 writes a second into its table: enough until 480 times the load (docs/scale.md says which shard comes then)",
    "message.listKey",
    "report_due.listKey",
    "task.listKey",
)
PARENTAL.accept(
    "IDX-LOWCARD",
    "a list for jobs and staff, of an item for each family or device and of the few that wait",
    "device.listKey",
    "family.listKey",
    "purge.listKey",
    "quarantined.listKey",
)
PARENTAL.accept(
    "KEY-PII",
    "a private address of the network; the item expires when late reports of its use end",
    "stay.privateIP",
)
PARENTAL.accept(
    "CC-NOVERSION",
    "a change is refused unless the values that it replaces are as they were read",
    "message",
)
