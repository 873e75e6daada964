"""The routes of parental controls, by what they are about. router.py puts them together."""
