"""`tablewright migrate ...`: move a table to a new design while it is in use."""
