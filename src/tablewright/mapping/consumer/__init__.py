"""Stream consumers: leases on shards, typed records, retries, dead letters."""
