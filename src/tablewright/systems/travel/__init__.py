"""Skratch: a travel map that works offline and merges what several devices say."""
