"""The metrics that the design's alarms are on (PC-X18), from the figures of monitoring.py.

Must hold: each is of what is so now, never a sum since the start: an alarm must be able to end.
"""

from tablewright.systems.parental.enforcement.monitoring import Figures


def metrics_of(figures: Figures) -> dict[str, float]:
    """By name, as the alarms in design/base.py name them."""
    devices = figures.devices
    rules = sum(sum(one.rules.values()) for one in devices)
    delays = [figures.overdue, *(one.overdue for one in devices)]
    return {
        "EnforcementDelay": max(delays).total_seconds(),
        "FailingRules": 100 * sum(one.failing for one in devices) / rules if rules else 0.0,
        "UnverifiedRules": sum(one.unverified for one in devices),
        "EnforcementQueueDepth": max(figures.due, sum(one.queued for one in devices)),
        "StreamLag": figures.longest_lag.total_seconds(),
        "FailingDevices": sum(one.device.enabled and not one.is_well for one in devices),
    }
