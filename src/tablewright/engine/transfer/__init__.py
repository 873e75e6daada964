"""Exports of tables into buckets, and imports of new tables from them."""
