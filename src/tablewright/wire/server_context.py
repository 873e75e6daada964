"""What all connections of one server share."""

from collections.abc import Mapping
from dataclasses import dataclass

from tablewright.engine import Engine
from tablewright.wire.group_writer import GroupWriter
from tablewright.wire.limits import Limits
from tablewright.wire.memory_budget import MemoryBudget
from tablewright.wire.request_checks import RequestChecks
from tablewright.wire.responses import ResponseQueue, ResponseRenderer
from tablewright.wire.slow_reads import SlowReads


@dataclass(frozen=True, slots=True)
class ServerContext:
    """The engine and its threads, the checks, and what is counted over all connections."""

    engine: Engine
    checks: RequestChecks
    renderer: ResponseRenderer
    writer: GroupWriter
    queue: ResponseQueue
    limits: Limits
    slow_reads: SlowReads
    budget: MemoryBudget
    # Where there are several regions, each by its name; the engine and writer above are the home region's.
    branches: Mapping[str, tuple[Engine, GroupWriter]] | None = None
