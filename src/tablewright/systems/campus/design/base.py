"""The design itself, its environments and their alarms (A.6, A.8)."""

from datetime import timedelta
from decimal import Decimal

from tablewright.design import (
    Alarm,
    Backups,
    Budget,
    Design,
    Environment,
    ObjectBucket,
    OnDemand,
    Provisioned,
)
from tablewright.design.alarms import OWN, SERVER_ERRORS

__all__ = ["A_YEAR", "CAMPUS", "STORAGE_USED"]

# The metric of jobs.py: how much of a quota is used, in per cent, by the user for whom that is most.
STORAGE_USED = "StorageQuotaUsed"

A_YEAR = timedelta(days=365)
CAMPUS = Design("campus", version=1, about="Files, shares, courses, assignments and grades of a campus.")


def _units(read: int, write: int) -> Provisioned:
    """CC-48; an index has as many writes as its table (CC-D22), since each write of the table reaches it."""
    return Provisioned(read, write, max_read=read * 20, max_write=write * 20, target=70)


_PRODUCTION = {
    "campus-cloud-files": _units(25, 10),
    "campus-cloud-shares": _units(10, 5),
    "campus-cloud-assignments": _units(10, 5),
    "campus-cloud-submissions": _units(20, 10),
    "campus-cloud-users": _units(5, 2),
}


def _environment(name: str, limit: int) -> Environment:
    production = name == "prod"
    return Environment(
        name,
        region="us-east-1",
        capacity=OnDemand(),
        of_tables=_PRODUCTION if production else {},
        pitr_days=35,
        # Weekly, kept for at least thirty days (CC-49).
        backups=Backups("cron(0 2 ? * SUN *)", 35, f"campus-cloud-{name}"),
        # Files (CC-E1), and archives of courses, which are in Glacier (CC-53).
        objects=ObjectBucket(archive="archive"),
        deletion_protection=production,
        encryption="customer" if production else "owned",
        tags={"Project": "campus-cloud", "Environment": name, "DataSensitivity": "education-records"},
        budget=Budget(
            Decimal(limit), Decimal(limit) * Decimal("0.8"), said=(Decimal("9.75"), Decimal("9.75"))
        ),
        recovery={"latest restorable": "about 5 min behind, for 35 days"},
    )


CAMPUS.environment(_environment("dev", 100))
CAMPUS.environment(_environment("prod", 250))

# CC-57. A failed backup is told of wherever there are backups (design/alarms.py).
CAMPUS.alarm(
    Alarm(
        "throttling",
        "ThrottledRequests",
        Decimal(10),
        5,
        "Sum",
        "requests",
        "look for a hot key; raise the provisioned capacity if all keys are busy",
        requirement="CC-57",
    )
)
CAMPUS.alarm(
    Alarm("faults", "SystemErrors", Decimal(5), 5, "Sum", "requests", "see the log", requirement="CC-56")
)
# The rate of what a server answers with a fault. DynamoDB's UserErrors would be of the whole account (CC-D27).
CAMPUS.alarm(
    Alarm(
        "ErrorRateHigh",
        SERVER_ERRORS,
        Decimal("0.05"),
        1,
        "Average",
        "of all requests",
        "see the log: each line has the route and the status",
        periods=5,
        namespace=OWN,
        requirement="CC-57",
    )
)
# The user who has used the largest part of their quota (CC-D25); the user is told too (files/quota.py).
CAMPUS.alarm(
    Alarm(
        "StorageQuotaHigh",
        STORAGE_USED,
        Decimal(80),
        30,
        "Maximum",
        "per cent",
        "see which users have little room left, and raise their quota or ask them to delete",
        # Published every ten minutes while a server runs: without it nothing is known.
        missing="ignore",
        namespace=OWN,
        requirement="CC-57, CC-D25",
    )
)
