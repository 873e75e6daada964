"""Earlier states of a table: snapshots, backups, point-in-time recovery, restores, journal retention."""
