"""The routes of the portal, a module per resource. router.py puts them together."""
