"""What parents write: policies, exceptions, windows, the registry of apps, and what follows for a moment."""
