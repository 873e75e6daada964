"""The first version of the tables: compatible functions, and the migration to this one."""
