"""The pages of Skratch: a module per group, templates/ and static/ beside them. See area.py."""
