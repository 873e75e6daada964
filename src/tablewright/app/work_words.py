"""The names and tones of the states of long-running jobs on pages."""

WORDS = {
    "RUNNING": ("running", "busy"),
    "DONE": ("done", "good"),
    "FAILED": ("failed", "bad"),
    "INTERRUPTED": ("interrupted", "warn"),
}
