"""Parental controls: policies that parents write, enforced on firewalls, with a truthful record of both."""
