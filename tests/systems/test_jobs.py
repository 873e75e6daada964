"""What runs without a request stands beside when it runs: nothing in a jobs.py is forgotten by the schedule."""

from types import FunctionType, ModuleType
from typing import Any

import pytest

from tablewright.app.systems import SYSTEMS
from tablewright.kit.jobs import Job
from tablewright.kit.system import System
from tablewright.systems.campus import jobs as campus
from tablewright.systems.chat import jobs as chat
from tablewright.systems.parental import jobs as parental
from tablewright.systems.portal import jobs as portal
from tablewright.systems.travel import jobs as travel

MODULES = {"campus": campus, "chat": chat, "parental": parental, "portal": portal, "travel": travel}
# What makes the schedule of a system: its jobs with its followers, and the consumers that the followers run.
MAKERS = {"work", "consumers"}


def public_functions(module: ModuleType) -> set[str]:
    found = [each for each in vars(module).values() if isinstance(each, FunctionType)]
    return {each.__name__ for each in found if each.__module__ == module.__name__ and each.__name__[0] != "_"}


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_public_function_of_the_jobs_is_scheduled_or_a_follower(system: System) -> None:
    module = MODULES[system.name]
    jobs: tuple[Job[Any], ...] = module.JOBS
    assert system.jobs is module.work
    scheduled = {job.run for job in jobs if isinstance(job.run, FunctionType)}
    own = {run.__name__ for run in scheduled if run.__module__ == module.__name__}
    assert public_functions(module) - MAKERS == own


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_jobs_of_a_system_have_names_of_their_own(system: System) -> None:
    names = [job.name for job in MODULES[system.name].JOBS]
    assert len(names) == len(set(names))
