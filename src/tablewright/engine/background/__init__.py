"""Background work: threads, maintenance steps, long-running jobs, TTL deletes."""
