"""The pages of parental controls: a module per group, templates/ and static/ beside them. See area.py."""
