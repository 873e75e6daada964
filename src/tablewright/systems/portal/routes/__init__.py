"""The routes of the portal, by what they are about. api.py puts them together."""
