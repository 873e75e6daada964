"""Replicas of tables in several regions of one process, for tests, demos and disaster-recovery drills."""
