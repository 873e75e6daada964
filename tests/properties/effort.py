"""How hard the property tests try.

By default the whole directory runs in about a minute. `PROPERTY_EFFORT=20 pytest tests/properties` tries twenty
times as many examples; a failure prints the example, shrunk.
"""

import os

from hypothesis import HealthCheck, settings

TIMES = float(os.environ.get("PROPERTY_EFFORT", "1"))


def effort(examples: int, steps: int = 50) -> settings:
    """Settings for a test that tries so many examples when nobody asks for more."""
    return settings(
        max_examples=max(1, round(examples * TIMES)),
        stateful_step_count=steps,
        # Two shared cores: a slow example says nothing about the engine.
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        print_blob=True,
    )
