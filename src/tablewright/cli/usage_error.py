"""The error for what the caller of a command can correct."""


class UsageError(Exception):
    """The command cannot do what was asked; its text is printed to stderr and the exit code is 2."""
