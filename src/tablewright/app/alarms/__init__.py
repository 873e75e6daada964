"""Alarms of this server: what the designs declare, evaluated every minute.

evaluation.py (pure: points -> state), published.py (metrics of systems), declared.py (which alarms there are),
states.py (their points and states), notices.py (mail, webhook, log), charges.py (cost so far).
"""
