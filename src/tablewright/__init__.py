"""Tablewright: write a DynamoDB design once; check it, run it, price it, migrate it and ship it."""

__version__ = "0.1.0"
