"""Firewalls: one narrow interface (driver.py), and the devices behind it, one file each."""
