"""`tablewright copy`: copy tables to another store or endpoint, keep them in step, and switch."""
