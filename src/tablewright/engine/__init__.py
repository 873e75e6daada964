"""The database: DynamoDB's verbs over one store.

from tablewright import Engine
engine = Engine.open("data")
engine.call("PutItem", {"TableName": "pets", "Item": {"name": {"S": "rex"}}})
"""

from tablewright.engine.background.session import EngineClosed
from tablewright.engine.engine import Engine
from tablewright.engine.errors import ServiceError
from tablewright.engine.group_commit import PendingCommit
from tablewright.engine.replication.regions import Regions
from tablewright.engine.storage.region_stores import RegionsMistake
from tablewright.engine.storage.sqlite import NotAStore, StoreInUse
from tablewright.engine.transfer.buckets import BucketsUnknown
from tablewright.engine.verify.invariants import verify_store

__all__ = [
    "BucketsUnknown",
    "Engine",
    "EngineClosed",
    "NotAStore",
    "PendingCommit",
    "Regions",
    "RegionsMistake",
    "ServiceError",
    "StoreInUse",
    "verify_store",
]
