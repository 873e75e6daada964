"""The SQLite file and its rows. SQL is written here or in a folder's `store.py`."""
