"""Tablewright: write a DynamoDB design once; check it, run it, price it, migrate it and ship it."""

from tablewright.engine import Engine, ServiceError

__all__ = ["Engine", "ServiceError", "__version__"]

__version__ = "0.1.0"
