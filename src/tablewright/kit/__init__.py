"""Building blocks that several systems share, and the types by which the app runs a system. See README.md."""
