"""Customers: tenants with their states, and the proof that an address is theirs."""
