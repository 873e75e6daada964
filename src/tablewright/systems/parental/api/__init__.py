"""The routes of parental controls, by resource. router.py combines them."""
