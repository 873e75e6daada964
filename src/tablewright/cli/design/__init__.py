"""`tablewright design ...`: start, check, draw, import or export a design, print its policies or its repository."""
