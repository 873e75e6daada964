"""What a design costs in a month: from its own figures, the environment and a price book, with all the arithmetic."""

from tablewright.design.cost.bill import cost_of, environments_of, regions_of, usual_environment
from tablewright.design.cost.claims import EstimateUnknown
from tablewright.design.cost.curve import CurvePoint, curve_of
from tablewright.design.cost.modes import Modes, modes_of
from tablewright.design.cost.report import (
    NO_LOAD,
    PARTS,
    STATE_LOAD,
    Claim,
    CostLine,
    CostReport,
    Options,
    Part,
)
from tablewright.design.cost.schedules import ScheduleUnreadable

__all__ = [
    "NO_LOAD", "PARTS", "STATE_LOAD", "Claim", "CostLine", "CostReport", "CurvePoint", "EstimateUnknown", "Modes",
    "Options", "Part", "ScheduleUnreadable", "cost_of", "curve_of", "environments_of", "modes_of", "regions_of",
    "usual_environment",
]  # fmt: skip
