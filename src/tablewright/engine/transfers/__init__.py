"""Exports of tables into buckets, and imports of new tables from them.

Where they go and come from: buckets.py. What an export leaves there: layout.py; what an import reads: sources.py.
How they are done, in steps beside everything else: exports.py, imports.py. Their records: ../storage_transfers.py.
"""
