"""`tablewright chat ...`: Zoo chat."""
