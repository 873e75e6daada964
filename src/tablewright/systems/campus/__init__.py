"""Campus Cloud: files, shares, courses, assignments and grades (system 001)."""
