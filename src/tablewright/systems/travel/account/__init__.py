"""Travellers: how they sign in, their devices and sessions, what they take away, and the end of an account."""
