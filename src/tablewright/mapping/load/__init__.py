"""A design's stated load, as requests: sample items and arguments, the mix, and a run of it at a rate."""
