"""Every verb of the engine by its name: the `OPERATION` of each file in this package. A new verb is a new file."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules

from tablewright.engine import api
from tablewright.engine.api.operation import STREAMS, ReadOperation, WriteOperation


def _operations() -> Iterator[ReadOperation | WriteOperation]:
    for module in iter_modules(api.__path__, f"{api.__name__}."):
        operation = getattr(import_module(module.name), "OPERATION", None)
        if operation is not None:
            yield operation


VERBS: Mapping[str, ReadOperation | WriteOperation] = {
    operation.name: operation for operation in sorted(_operations(), key=lambda operation: operation.name)
}
STREAM_VERBS = frozenset(operation.name for operation in VERBS.values() if operation.service == STREAMS)
# What a verb that may write does instead when its request only reads (statements.only_reads).
READ_ONLY: Mapping[str, ReadOperation] = {
    name: ReadOperation(name, operation.shape, operation.run_reads)
    for name, operation in VERBS.items()
    if isinstance(operation, WriteOperation) and operation.run_reads is not None
}
