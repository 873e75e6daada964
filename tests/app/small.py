"""The systems in the box with few people in them: everyone whom the demo names, without the crowd around them.

To fill them as the demo does is most of what it takes to open an app: for tests that count nobody.
"""

from dataclasses import replace

from tablewright.app.systems import PARENTAL, PORTAL, SYSTEMS
from tablewright.systems.parental import seed as parental_seed
from tablewright.systems.portal import seed as portal_seed

_SMALLER = {
    PORTAL.name: replace(PORTAL, seed=lambda portal, told: portal_seed.seed(portal, told, tenants=5)),
    PARENTAL.name: replace(
        PARENTAL, seed=lambda parental, told: parental_seed.seed(parental, told, families=0)
    ),
}
SMALL = tuple(_SMALLER.get(system.name, system) for system in SYSTEMS)
