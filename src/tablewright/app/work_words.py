"""How the states of long work are called on a page, and in which tone."""

WORDS = {
    "RUNNING": ("running", "busy"),
    "DONE": ("done", "good"),
    "FAILED": ("failed", "bad"),
    "INTERRUPTED": ("interrupted", "warn"),
}
