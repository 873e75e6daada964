"""Marks, rubrics, comments, regrade requests, release, the gradebook."""
