"""Keys and access patterns whose names and fields a building block is given.

    key: Callable[[str, datetime], None] = declared("audit_key", "", family_id=str, audit_at=datetime)

A design reads names, documentation and parameters from a function; for a block they differ from system to system.
"""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any


def declared(name: str, about: str, /, **fields: Any) -> Callable[..., None]:
    """A function with this name, documentation and these parameters, by position or by name."""

    def function(*args: object, **kwargs: object) -> None: ...

    function.__name__, function.__doc__ = name, about
    parameters = [
        Parameter(each, Parameter.POSITIONAL_OR_KEYWORD, annotation=kind) for each, kind in fields.items()
    ]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # inspect.signature reads it
    return function
