"""The mail that tells of an alarm."""

from tablewright.kit.messages import Template

TEMPLATES = {
    "alarm": Template(
        "Alarm: {alarm} of {system}",
        "{alarm} of {system} is in the state ALARM since {at}.\n\n{condition}; it is {value}.\n{advice}\n{link}",
    ),
    "alarm over": Template(
        "Over: {alarm} of {system}",
        "{alarm} of {system} is over since {at}.\n\n{condition}; it is {value}.\n{link}",
    ),
}
