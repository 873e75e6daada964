"""Execution of PartiQL statements."""
