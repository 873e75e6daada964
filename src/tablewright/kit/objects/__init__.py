"""Objects that are too large or too long-lived for a table: files, pictures, exports, archives (CC-E1, SK-E2).

One interface (store.py) for a directory, a bucket of S3 and, for small objects only, memory; import from its modules.
"""
