"""What a design costs in a month: from its own figures, the environment and a price book, with all the arithmetic."""

from tablewright.design.cost.priced import cost_of, environments_of, regions_of
from tablewright.design.cost.report import PARTS, Line, Options, Part, Report, Stated
from tablewright.design.cost.schedules import ScheduleUnreadable
from tablewright.design.cost.stated import EstimateUnknown

__all__ = [
    "PARTS", "EstimateUnknown", "Line", "Options", "Part", "Report", "ScheduleUnreadable", "Stated", "cost_of",
    "environments_of", "regions_of",
]  # fmt: skip
