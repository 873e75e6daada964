"""The routes of the portal, by what they are about. router.py puts them together."""
