"""Families, consent, limits, retention, and erasure."""
