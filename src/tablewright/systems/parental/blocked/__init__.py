"""What was blocked: events as sensors report them, counted once, and what parents see of the counts."""
