"""How hard the property tests try.

`make test` runs two in five of the examples that a test names: where CI is set, they are the same in every run.
`make properties` runs ten times as many as a test names, other ones each time; a failure prints the example, shrunk.
"""

import os

from hypothesis import HealthCheck, settings

TIMES = float(os.environ.get("PROPERTY_EFFORT", "0.4"))


def effort(examples: int, steps: int = 50) -> settings:
    """Settings for a test that tries so many examples, times the effort."""
    return settings(
        max_examples=max(1, round(examples * TIMES)),
        stateful_step_count=steps,
        # Two shared cores: a slow example says nothing about the engine.
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        print_blob=True,
    )
