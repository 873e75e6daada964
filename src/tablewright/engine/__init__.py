"""The database: DynamoDB's verbs over one store.

from tablewright import Engine
engine = Engine.open("data")
engine.call("PutItem", {"TableName": "pets", "Item": {"name": {"S": "rex"}}})
"""

from tablewright.engine.engine import Engine, EngineClosed, Group
from tablewright.engine.errors import ServiceError
from tablewright.engine.storage import NotAStore, StoreInUse
from tablewright.engine.verify import verify

__all__ = ["Engine", "EngineClosed", "Group", "NotAStore", "ServiceError", "StoreInUse", "verify"]
