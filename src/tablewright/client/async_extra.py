"""Names that need the extra `async`, imported on first use: without it, the error says how to install it."""

from importlib import import_module
from typing import Any


def of_extra(module: str, name: str) -> Any:
    """The name in the module; ImportError with the command to run if greenlet is not installed."""
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name != "greenlet":
            raise
        raise ImportError(
            f"{name} needs greenlet, which is not installed; run: pip install 'tablewright[async]'",
            name="greenlet",
        ) from None
