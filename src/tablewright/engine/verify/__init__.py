"""Every invariant of a store, checked from outside, by topic; and the daily scrub."""
