"""What the mails of Skratch say, by template, and the notices that go to devices with them.

Must hold: a code is given as a secret (kit/messages.py); a template that is a notice, too, names no place.
"""

from tablewright.kit import codes
from tablewright.kit.messages import Template

TEMPLATES = {
    "code": Template("Your Skratch code: {code}", codes.BODY),
    "week": Template(
        "Your map this week",
        "You have been to {countries} countries ({percentage} %), {states} states and {provinces} provinces, on "
        "{continents} continents.",
    ),
    "inactive": Template(
        "Are you still travelling?",
        "Your map is still here. If you no longer want it, sign in and delete your account.",
    ),
    "conflict": Template(
        "Which of the two is right?",
        "Two of your devices say different things about a place. Open your map and choose.",
    ),
    "erasure": Template(
        "Your account will be erased",
        "Your Skratch account will be erased on {when} UTC. Until then you can sign in and keep it. If this was not "
        "you, sign in and sign out your other devices.",
    ),
}
