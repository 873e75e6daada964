"""How the attributes of stored items are named: each design in one style, so that building blocks keep its items."""

import re

import pytest

from tablewright.app.design import app_design
from tablewright.design import Design
from tablewright.design.attributes import attributes
from tablewright.systems.campus.design import CAMPUS
from tablewright.systems.chat.design import CHAT
from tablewright.systems.parental.design import PARENTAL
from tablewright.systems.portal.design import PORTAL
from tablewright.systems.travel.design import TRAVEL

SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
CAMEL = re.compile(r"[a-z][A-Za-z0-9]*")
BY_THE_DOCUMENT = {("action", "duration_ms")}  # PC-D37: kept as a data contract


@pytest.mark.parametrize(
    ("design", "style"),
    [
        (PORTAL, CAMEL),
        (CAMPUS, CAMEL),
        (CHAT, CAMEL),
        (PARENTAL, CAMEL),
        (TRAVEL, SNAKE),
        (app_design, SNAKE),
    ],
    ids=lambda value: value.name if isinstance(value, Design) else "",
)
def test_the_attributes_of_a_design_are_named_in_one_style(design: Design, style: re.Pattern[str]) -> None:
    odd = [
        (shape.tag, attribute.stored)
        for shape in design.shapes
        for attribute in attributes(shape.model)
        if not style.fullmatch(attribute.stored) and (shape.tag, attribute.stored) not in BY_THE_DOCUMENT
    ]
    assert odd == []
