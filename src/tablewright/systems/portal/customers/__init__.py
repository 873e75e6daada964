"""Customers: tenants with their states, and the verification of their addresses."""
