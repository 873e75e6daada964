"""`tablewright people ...`: the accounts of a server without demo sign-in."""
