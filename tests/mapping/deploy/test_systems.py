"""The systems in the box, deployed on an engine: what is left is what an engine cannot have, and nothing else."""

from __future__ import annotations

import pytest

from tablewright import testing
from tablewright.cli.designs import load_designs, shipped_systems
from tablewright.client import embedded
from tablewright.mapping.deploy import apply, desired_tables, live_tables, plan
from tablewright.mapping.deployment import deployment_of

PLACES = [(name, place) for name in shipped_systems() for place in load_designs(name)[0].environments]


@pytest.mark.parametrize(("system", "place"), PLACES)
def test_a_shipped_system_is_deployed_and_shows_no_drift(system: str, place: str) -> None:
    designs = load_designs(system)
    deployment = deployment_of(system, designs, designs[0].environments[place])
    desired = desired_tables(deployment)
    with testing.engine() as engine:
        call = embedded(engine)
        left = apply(call, plan(desired, {}), allow_loss=False)
        still = plan(desired, live_tables(call, (table.name for table in desired)))
        kinds = {
            "encryption",
            "autoscaling",
            *(f"replica {region}" for region in deployment.environment.replicas),
        }
        assert {step.subject for step in still} <= kinds
        assert [step.subject for step in still] == [one.step.subject for one in left]
        assert {step.needs for step in still} <= {"elsewhere", "endpoint"}
