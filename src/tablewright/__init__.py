"""Tablewright: write a DynamoDB design once; check it, run it, price it, migrate it and ship it.

Must hold: importing this package, or a part of it that needs no database (`tablewright.design`,
`tablewright.client`), loads neither the engine nor SQLite. The public names are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the type checker needs the real names; at run time this import would load the engine
    from tablewright.engine import Engine, ServiceError
else:

    def __getattr__(name):
        if name not in ("Engine", "ServiceError"):
            raise AttributeError(f"module 'tablewright' has no attribute {name!r}")
        return getattr(import_module("tablewright.engine"), name)


__all__ = ["Engine", "ServiceError", "__version__"]

__version__ = "0.1.0"
