"""The routes of parental controls, by what they are about. api.py puts them together."""
