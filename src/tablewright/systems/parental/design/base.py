"""The design itself, its environments, how long things are kept, and the table of what has none of its own.

Loads, here and in the other parts, are means over a month, of some 20 000 children whose devices come and go; the
document's figures (PC-38) are peaks.
"""

from datetime import timedelta
from decimal import Decimal

from tablewright.design import Alarm, Design, Environment, Provisioned
from tablewright.design.alarms import OWN

HISTORY_KEPT = timedelta(days=90)
METRICS_KEPT = timedelta(days=400)
RECEIPTS_KEPT = timedelta(days=7)
RULES_KEPT = timedelta(days=7)
SESSIONS_KEPT = timedelta(days=7)
FORMER_RULES_KEPT = timedelta(days=1)
AUDIT_KEPT = timedelta(days=400)
# By this name the tables' changes are followed (enforcement/on_change.py).
FOLLOWER = "parental"
PARENTAL = Design("parental", version=1, about="What children can't use and when, enforced on firewalls.")
_TAGS = {"Application": "ParentalControls", "ManagedBy": "Terraform"}
# The tables have the document's names in both: each is an account of its own.
PARENTAL.environment(
    Environment("dev", region="us-east-1", pitr_days=35, tags={"Environment": "dev", **_TAGS})
)
PARENTAL.environment(
    Environment(
        "prod",
        region="us-east-1",
        # PC-38, PC-39: what is even is provisioned, what comes in bursts is paid for as it comes (PC-D17, PC-D27).
        of_tables={
            "ParentalPolicies": Provisioned(10, 5, max_read=200, max_write=100, target=70),
            "ApplicationRegistry": Provisioned(5, 1, max_read=50, max_write=10, target=70),
            "FTDRuleMapping": Provisioned(20, 20, max_read=400, max_write=400, target=70),
        },
        pitr_days=35,
        deletion_protection=True,
        encryption="managed",
        tags={"Environment": "prod", **_TAGS},
    )
)
# PC-X18. The document names no thresholds but these: a window is opened within a minute (PC-42), a rule is compared
# within 30 minutes (PC-43). The metrics are read every five minutes (enforcement/alarm_metrics.py).
for _name, _metric, _over, _unit, _advice in (
    ("EnforcementLate", "EnforcementDelay", 60, "seconds", "look for a device with a long queue"),
    ("EnforcementFailing", "FailingRules", 5, "per cent of all rules", "see the page Failures"),
    ("RulesUnverified", "UnverifiedRules", 0, "rules", "compare the device that is named on the page Rules"),
    ("EnforcementQueueLong", "EnforcementQueueDepth", 500, "children", "see the page Queues"),
    (
        "ChangesBehind",
        "StreamLag",
        60,
        "seconds",
        "see whether the followers of changes run (Store and jobs)",
    ),
    ("DevicesFailing", "FailingDevices", 0, "devices", "see the page Firewalls for the error of the device"),
):
    PARENTAL.alarm(
        Alarm(
            _name,
            _metric,
            Decimal(_over),
            10,
            "Maximum",
            _unit,
            _advice,
            periods=2,
            missing="missing",
            namespace=OWN,
            requirement="PC-X18",
        )
    )
# Made first: it guards who holds which number.
families_table = PARENTAL.table(
    "ParentalFamilies",
    pk="PK",
    sk="SK",
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    about="Families and guardians, exceptions, devices, messages and activity.",
)
guardian_index = families_table.gsi("GuardianIndex", pk="guardianOf", sk="familyKey")
list_index = families_table.gsi("ListIndex", pk="listKey", sk="listSort")
