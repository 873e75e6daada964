"""What an animal remembers: the window of a model, summaries, contexts and recall."""
