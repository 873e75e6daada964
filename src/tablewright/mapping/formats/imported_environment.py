"""The environment of an imported design: the settings that its tables have. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tablewright.mapping.deploy.states import TableState
from tablewright.mapping.formats.imported_tables import ImportedTable

ENVIRONMENT, REGION, MOST_RECOVERY_DAYS = "imported", "us-east-1", 35


def imported_environment(tables: Sequence[ImportedTable], name: str) -> tuple[dict[str, Any], list[str]]:
    """What most tables have, and notes on what others have. `name` is the end of their names, or empty."""
    notes: list[str] = []
    states = [table.state for table in tables]
    region = next((table.region for table in tables if table.region), "")
    if not region:
        notes.append(f"The region is not known; {REGION} stands for it.")

    def usual(setting: str, values: Sequence[Any]) -> Any:
        found = Counter(values).most_common(1)[0][0]
        for other in dict.fromkeys(value for value in values if value != found):
            names = [state.name for state, value in zip(states, values, strict=True) if value == other]
            notes.append(
                f"{setting}: {_shown(other)} in {', '.join(names)}; the design says {_shown(found)}, since an "
                "environment has one setting."
            )
        return found

    days = [MOST_RECOVERY_DAYS if each.recovery_days is None else each.recovery_days for each in states]
    tags = set.intersection(*(set(each.tags.items()) for each in states)) if states else set()
    if any(set(each.tags.items()) != tags for each in states):
        notes.append("Tags that not every table has are left out.")
    made: dict[str, Any] = {"name": name or ENVIRONMENT, "region": region or REGION}
    if states:
        made |= {
            "of_tables": {each.name: _capacity(each) for each in states if each.units},
            "pitr_days": usual("Point-in-time recovery", days),
            "deletion_protection": usual("Deletion protection", [each.is_protected for each in states]),
            "replicas": sorted(usual("Replicas", [each.replicas for each in states])),
            "encryption": usual("Encryption", [each.encryption for each in states]),
            "tags": dict(sorted(tags)),
            "table_name": "{table}-{env}" if name else "",
        }
    return {key: value for key, value in made.items() if value}, notes


def _shown(setting: Any) -> str:
    match setting:
        case bool() | 0:
            return "on" if setting else "off"
        case int():
            return f"{setting} days"
        case str():
            return setting
    return ", ".join(sorted(setting)) or "none"


def _capacity(state: TableState) -> dict[str, int]:
    units = state.units
    found = {"read": units.read if units else 1, "write": units.write if units else 1}
    for what, name in (("Read", "read"), ("Write", "write")):
        bounds = next((each for (index, kind), each in (state.scaling or {}).items()
                       if not index and kind == what), None)  # fmt: skip
        if bounds:
            found |= {name: bounds.low, f"max_{name}": bounds.high, "target": bounds.target}
    return found
