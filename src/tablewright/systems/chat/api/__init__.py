"""The routes of Zoo chat, a module per resource. router.py puts them together."""
