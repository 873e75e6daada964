"""Zoo chat: children talk with animals of a zoo; what is kept, for how long, and who may read it."""
