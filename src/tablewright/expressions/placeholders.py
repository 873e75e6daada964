"""Placeholders for resolved nodes, so that `render` can write them as the text of a request.

Every attribute name and every value gets a placeholder: no name is then read as a reserved word, and no value as
part of the text. The inverse, from placeholders to names and values, is resolve.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tablewright.values import Value


@dataclass(slots=True)
class PlaceholderAllocator:
    """The placeholders of one request: `#0`, `#1` for names, each name once; `:0`, `:1` for values."""

    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)

    def name(self, attribute: str) -> str:
        for placeholder, known in self.names.items():
            if known == attribute:
                return placeholder
        placeholder = f"#{len(self.names)}"
        self.names[placeholder] = attribute
        return placeholder

    def value(self, value: Value) -> str:
        placeholder = f":{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def members(self) -> dict[str, Mapping[str, object]]:
        """ExpressionAttributeNames and -Values as a request takes them; an empty one is left out."""
        members: dict[str, Mapping[str, object]] = {}
        if self.names:
            members["ExpressionAttributeNames"] = dict(self.names)
        if self.values:
            members["ExpressionAttributeValues"] = dict(self.values)
        return members
