"""The API: request shapes, arguments that several verbs share, table definitions, and one file per verb."""
