"""Families: guardians, children, their phone numbers, notices to them, and the end of all of it."""
