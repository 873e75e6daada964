"""Who else may read or write a file: shares, links, file requests."""
