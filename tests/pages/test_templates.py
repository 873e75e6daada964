"""Templates and static files: each is found under the name that others use for it."""

import re

import pytest
from jinja2 import meta

from tablewright.app.serve import packages_of
from tablewright.app.systems import SYSTEMS
from tablewright.pages.layout import assets_in, environment_of

PACKAGES = tuple(packages_of(SYSTEMS).items())
ENVIRONMENT = environment_of(PACKAGES)
TEMPLATES = ENVIRONMENT.list_templates()


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_and_static_file_that_a_template_names_is_there(name: str) -> None:
    assert ENVIRONMENT.loader is not None
    source, _, _ = ENVIRONMENT.loader.get_source(ENVIRONMENT, name)
    named = meta.find_referenced_templates(ENVIRONMENT.parse(source))
    assert [each for each in named if each not in TEMPLATES] == []
    assert [
        each for each in re.findall(r"asset\('([^']+)'\)", source) if each not in assets_in(PACKAGES)
    ] == []


def test_every_package_has_templates_and_systems_keep_their_files_apart() -> None:
    folders = {name.partition("/")[0] for name in TEMPLATES if "/" in name}
    assert folders == {"app", "designs", *(system.name for system in SYSTEMS)}
    assert {"console.css", "portal/portal.css", "travel/map.js"} <= set(assets_in(PACKAGES))
