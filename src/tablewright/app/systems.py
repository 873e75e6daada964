"""The systems in the box, in the order the console shows them."""

from tablewright.kit.system import System
from tablewright.systems.campus.service import SYSTEM as CAMPUS
from tablewright.systems.chat.service import SYSTEM as CHAT
from tablewright.systems.parental.service import SYSTEM as PARENTAL
from tablewright.systems.portal.service import SYSTEM as PORTAL
from tablewright.systems.travel.service import SYSTEM as TRAVEL

__all__ = ["CAMPUS", "CHAT", "PARENTAL", "PORTAL", "SYSTEMS", "TRAVEL"]

SYSTEMS: tuple[System, ...] = (PORTAL, PARENTAL, CAMPUS, TRAVEL, CHAT)
