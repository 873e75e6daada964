"""The pages of the customer portal: a module per group, templates/ and static/ beside them. See area.py."""
