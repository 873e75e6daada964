"""The routes of Skratch, by what they are about."""
