"""Alarms of this server: what the designs declare, evaluated every minute.

evaluation.py (pure: points -> state), published.py (metrics of systems), series.py (an alarm's points),
states.py (which alarms there are, and their states), notices.py (mail, webhook, log), charges.py (cost so far).
"""
