"""What a verb is to the engine: a name, the shape of its request, and the function that answers it.

Each verb's file ends with its `OPERATION`; registry.py collects them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tablewright.engine.api.shapes import Fits, Request, Struct, predicate
from tablewright.engine.transaction import ReadTransaction, WriteTransaction

DYNAMODB = "dynamodb"
# To an SDK, DynamoDB Streams is a separate service with verbs of its own.
STREAMS = "dynamodbstreams"


@dataclass(frozen=True, slots=True)
class ReadOperation:
    """A verb that changes nothing."""

    name: str
    shape: Struct
    run: Callable[[ReadTransaction, Request], dict[str, Any]]
    service: str = DYNAMODB
    fits: Fits = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fits", predicate(self.shape))


@dataclass(frozen=True, slots=True)
class WriteOperation:
    """A verb that runs in a write transaction.

    `run_reads` answers a request that only reads (statements.only_reads) without the write lock, if the verb can.
    """

    name: str
    shape: Struct
    run: Callable[[WriteTransaction, Request], dict[str, Any]]
    run_reads: Callable[[ReadTransaction, Request], dict[str, Any]] | None = None
    service: str = DYNAMODB
    fits: Fits = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fits", predicate(self.shape))
