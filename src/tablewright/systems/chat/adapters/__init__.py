"""Interfaces of agent libraries over the same store."""
