"""Exports of tables into buckets, and imports of new tables from them.

Buckets: buckets.py. The objects of an export: export_format.py; the objects of an import: import_formats.py. The jobs
that write and read them: export.py, import_.py. Their records: store.py.
"""
