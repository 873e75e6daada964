"""`tablewright parental ...`: the parental controls system."""
