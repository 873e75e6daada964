"""The machine under the benchmark: what a reader needs to judge the figures.

`durable` figures mean nothing where fsync is free (a tmpfs) and little where another program keeps the disk
busy, so the cost of an fsync is measured where the stores are.
"""

import os
import platform
import statistics
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    cores: int
    processor: str
    python: str
    load: float  # runnable processes over the last minute, before we begin
    fsync_ms: float
    fsync_worst_ms: float

    def sentence(self) -> str:
        return (
            f"{self.cores} cores ({self.processor}), Python {self.python}, load before {self.load:.2f}, "
            f"fsync {self.fsync_ms:.2f} ms (worst of 50: {self.fsync_worst_ms:.2f} ms)"
        )


def look_at_machine(directory: Path) -> Machine:
    times = _fsyncs(directory / "fsync")
    return Machine(
        cores=os.cpu_count() or 1,
        processor=_processor(),
        python=platform.python_version(),
        load=os.getloadavg()[0],
        fsync_ms=statistics.median(times),
        fsync_worst_ms=max(times),
    )


def _fsyncs(path: Path) -> list[float]:
    times: list[float] = []
    with path.open("wb", buffering=0) as file:
        for _ in range(50):
            file.write(os.urandom(4096))
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append((time.perf_counter() - began) * 1000)
    path.unlink()
    return times


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
