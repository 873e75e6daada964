"""What is said: conversations, messages, turns, and the models and rules that a turn uses."""
