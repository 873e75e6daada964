"""What a verb is to the engine: a name, the shape of its request, and the function that answers it.

Above each function that answers a verb stand the verb and the members of its request: `@read_verb("GetItem", {...})`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from tablewright.engine.api.shapes import Answer, Fits, Request, Shape, Struct, Wording, predicate
from tablewright.engine.transaction import ReadTransaction, WriteTransaction

Context = TypeVar("Context", ReadTransaction, WriteTransaction)


@dataclass(frozen=True)
class Operation(Generic[Context]):
    name: str
    shape: Struct
    # The response, or its JSON.
    run: Callable[[Context, Request], Answer | bytes]
    fits: Fits = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fits", predicate(self.shape))


class ReadOperation(Operation[ReadTransaction]):
    """A verb that changes nothing."""


class WriteOperation(Operation[WriteTransaction]):
    """A verb that runs in a write transaction."""


Names: TypeAlias = tuple[str, ...]
Members: TypeAlias = Mapping[str, Shape]
Read: TypeAlias = Callable[[ReadTransaction, Request], Answer | bytes]
Write: TypeAlias = Callable[[WriteTransaction, Request], Answer]
ReadOrWrite: TypeAlias = Callable[[ReadTransaction | WriteTransaction, Request], Answer]
ReadT = TypeVar("ReadT", bound=Read)

# The verbs of the modules that have been imported; registry.py imports them all.
operations: dict[str, ReadOperation | WriteOperation] = {}
# What a verb that may write does instead when its request only reads (statements.only_reads): it needs no write lock.
read_only: dict[str, ReadOperation] = {}


def read_verb(
    verb: str, members: Members, required: Names = (), refused: Names = (), wording: Wording | None = None
) -> Callable[[ReadT], ReadT]:
    def register(run: ReadT) -> ReadT:
        shape = Struct(f"{verb}Input", members, required, refused, wording)
        operations[verb] = ReadOperation(verb, shape, run)
        return run

    return register


def write_verb(
    verb: str, members: Members, required: Names = (), refused: Names = (), wording: Wording | None = None
) -> Callable[[Write], Write]:
    def register(run: Write) -> Write:
        shape = Struct(f"{verb}Input", members, required, refused, wording)
        operations[verb] = WriteOperation(verb, shape, run)
        return run

    return register


def statement_verb(verb: str, members: Members, required: Names) -> Callable[[ReadOrWrite], ReadOrWrite]:
    def register(run: ReadOrWrite) -> ReadOrWrite:
        shape = Struct(f"{verb}Input", members, required)
        operations[verb], read_only[verb] = WriteOperation(verb, shape, run), ReadOperation(verb, shape, run)
        return run

    return register
