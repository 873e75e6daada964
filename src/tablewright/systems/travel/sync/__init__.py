"""Sync: what devices push is parsed, split, merged and applied; what is new is fed back to them. See docs/sync.md."""
