"""Environments, alarms, loads and acceptances as plain values: each field that is not its default."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from typing import Any

from tablewright.design.environments import OnDemand
from tablewright.design.files.settings_document import ON_DEMAND


def settings_of(value: Any) -> dict[str, Any]:
    """A frozen dataclass by its fields, without those that have their defaults."""
    return {
        field.name: plain(found)
        for field in fields(value)
        if (found := getattr(value, field.name)) != _default(field)
    }


def _default(field: Any) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, OnDemand):
        return ON_DEMAND
    if isinstance(value, Decimal):
        return number(value)
    if is_dataclass(value):
        return settings_of(value)
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def number(value: Decimal) -> int | float | str:
    """The number, where JSON's has the same digits; otherwise its text."""
    text = str(value)
    if text.lstrip("-").isdigit():
        return int(text)
    return float(text) if text == str(float(value)) else text
