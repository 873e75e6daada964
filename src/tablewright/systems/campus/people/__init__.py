"""Users: profile, quota, notifications, suspension, transfer, export and erasure."""
