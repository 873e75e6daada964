"""The routes of Campus Cloud, a module per resource. router.py puts them together."""
