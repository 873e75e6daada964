"""Time zones as choices of a form."""

from zoneinfo import available_timezones

ZONES = [
    ("UTC", "UTC"),
    *(
        (zone, zone.replace("_", " "))
        for zone in sorted(available_timezones())
        if "/" in zone and not zone.startswith(("Etc/", "SystemV/"))
    ),
]
