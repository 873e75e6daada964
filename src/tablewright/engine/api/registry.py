"""Every verb of the engine by its name: those that the modules of this package register (operation.py)."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from tablewright.engine import api
from tablewright.engine.api.operation import ReadOperation, WriteOperation, operations, read_only

for module in iter_modules(api.__path__, f"{api.__name__}."):
    import_module(module.name)

VERBS: Mapping[str, ReadOperation | WriteOperation] = dict(sorted(operations.items()))
READ_ONLY: Mapping[str, ReadOperation] = read_only
# To an SDK, DynamoDB Streams is a separate service with verbs of its own.
STREAM_VERBS = frozenset(("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"))
