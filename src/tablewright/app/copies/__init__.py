"""Copies of the systems' tables outside of this machine: the daily job, where they are kept, their status, restores."""
