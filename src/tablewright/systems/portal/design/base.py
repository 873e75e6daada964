"""The design itself, its environments and their alarms (A.6, A.7, A.8)."""

from datetime import timedelta
from decimal import Decimal

from tablewright.design import Alarm, Backups, Budget, Design, Environment
from tablewright.design.alarms import CHARGES_OF_MEAN, OWN

__all__ = [
    "PORTAL",
    "SEVEN_YEARS",
]

SEVEN_YEARS = timedelta(days=7 * 365 + 2)
PORTAL = Design("portal", version=1, about="A public portal that sells WordPress hosting.")
_TAGS = {
    "Project": "BBWS WP Containers",
    "Owner": "Tebogo",
    "CostCenter": "AWS",
    "ManagedBy": "Terraform",
    "Component": "dynamodb",
    "Application": "CustomerPortalPublic",
}

# The load is that of production (CP-65), wherever it comes to; CP-60 has every line about 1 000 times too high, but for
# the copies of production: one an hour for 90 days are 2 160 of each table, in two regions.
_STANDING = {"requests": "4.85", "storage": "2.22", "streams": "8.37"}


def _environment(
    name: str, account: str, schedule: str, keep_days: int, limit: int, said: int, estimate: dict[str, str]
) -> Environment:
    """One of three. `said` is the cost in the document, `estimate` the cost by our own calculation."""
    production = name == "prod"
    frequency = "hourly" if production else "daily"
    tags = {"Environment": name, **_TAGS}
    if production:
        tags |= {"BackupPolicy": "hourly", "DR": "enabled", "LLD": "2.1.8"}
    return Environment(
        name,
        region="af-south-1",
        account=account,
        pitr_days=35,
        backups=Backups(
            schedule,
            keep_days,
            f"bbws-backup-vault-{name}",
            copy_to="eu-west-1" if production else None,
            plan=f"bbws-dynamodb-{name}-{frequency}",
            rule=f"{frequency}_backup",
            selection=f"bbws-dynamodb-{name}-selection",
        ),
        deletion_protection=production,
        replicas=("eu-west-1",) if production else (),
        encryption="managed",
        tags=tags,
        budget=Budget(
            Decimal(limit),
            Decimal(limit) * Decimal("0.8"),
            {what: Decimal(sum_) for what, sum_ in (_STANDING | estimate).items()},
            said=(Decimal(said), Decimal(said)),
        ),
        recovery={
            "accidental delete": "under 1 h" if production else "1 to 2 h",
            "corruption": "under 2 h" if production else "2 to 4 h",
            "region": "under 15 min" if production else "not covered",
            "latest restorable": "about 5 min behind, for 35 days",
        },
    )


PORTAL.environment(_environment("dev", "536580886816", "cron(0 1 * * ? *)", 7, 500, 65, {"copies": "3.68"}))
PORTAL.environment(
    _environment("sit", "815856636111", "cron(0 2 * * ? *)", 14, 1000, 130, {"copies": "6.53"})
)
PORTAL.environment(
    _environment(
        "prod",
        "093646564004",
        "cron(0 * * * ? *)",
        90,
        5000,
        2100,
        {"storage": "2.37", "copies": "1743.91", "replication": "6.53"},
    )
)
for _name, _metric, _over, _minutes, _unit, _from in (
    ("reads", "ConsumedReadCapacityUnits", 10_000, 1, "units", "CP-66"),
    ("writes", "ConsumedWriteCapacityUnits", 5_000, 1, "units", "CP-66"),
    # On demand, too: after a sudden doubling, or of a hot key (CP-D47).
    ("throttling", "ThrottledRequests", 10, 5, "requests", "CP-66"),
    ("faults", "SystemErrors", 5, 5, "errors", "CP-66"),
    # In milliseconds. What is pending, and the rate of errors, CloudWatch does not have (CP-D49).
    ("replication", "ReplicationLatency", 5_000, 5, "ms", "CP-71"),
):
    PORTAL.alarm(
        Alarm(
            _name,
            _metric,
            Decimal(_over),
            _minutes,
            "Maximum" if _unit == "ms" else "Sum",
            _unit,
            "page the operator",
            requirement=_from,
        )
    )
PORTAL.alarm(
    Alarm(
        "cost-anomaly",
        CHARGES_OF_MEAN,
        Decimal(150),
        60,
        "Maximum",
        "per cent of the mean of the seven days before",
        "compare the units of each table with those of the days before",
        # Published hourly, and not at all until there are days to compare with.
        missing="ignore",
        namespace=OWN,
        requirement="CP-66",
    )
)
