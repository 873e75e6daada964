"""The database: DynamoDB's verbs over one store.

from tablewright import Engine
engine = Engine.open("data")
engine.call("PutItem", {"TableName": "pets", "Item": {"name": {"S": "rex"}}})
"""

from tablewright.engine.doors import EngineClosed
from tablewright.engine.engine import Engine
from tablewright.engine.errors import ServiceError
from tablewright.engine.regions import Regions, RegionsMistake
from tablewright.engine.replica_lines import PeerUnreachable
from tablewright.engine.storage import NotAStore, StoreInUse
from tablewright.engine.transfers.buckets import BucketsUnknown
from tablewright.engine.verify import verify
from tablewright.engine.writer import Group

__all__ = [
    "BucketsUnknown",
    "Engine",
    "EngineClosed",
    "Group",
    "NotAStore",
    "PeerUnreachable",
    "Regions",
    "RegionsMistake",
    "ServiceError",
    "StoreInUse",
    "verify",
]
