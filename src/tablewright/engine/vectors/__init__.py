"""Vector indexes and SearchVectors: definitions, entries, their rows, scores and the search."""
