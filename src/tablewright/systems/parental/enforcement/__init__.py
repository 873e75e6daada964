"""What is blocked on firewalls: sessions, plans, their application, and the record of it."""
