"""Heat: the stated load of a design on partitions and their limits, simulated; what is throttled and what cures it."""

from tablewright.design.heat.key_loads import ASSUMED_KEYS, EXPONENT, KeyLoad, key_loads
from tablewright.design.heat.outcomes import Heat, Outcome, heat_of, times_of, together
from tablewright.design.heat.picture import heat_picture
from tablewright.design.heat.simulation import SPLIT_AFTER, Run, simulate

__all__ = [
    "ASSUMED_KEYS", "EXPONENT", "SPLIT_AFTER", "Heat", "KeyLoad", "Outcome", "Run", "heat_of", "heat_picture",
    "key_loads", "simulate", "times_of", "together",
]  # fmt: skip
