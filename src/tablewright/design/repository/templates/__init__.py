"""Files of a repository, as they are printed or with marks such as @environment@ for what differs."""

from collections.abc import Mapping
from importlib import resources


def template(name: str) -> str:
    """The text of a template."""
    return resources.files("tablewright.design.repository.templates").joinpath(name).read_text("utf-8")


def filled(name: str, said: Mapping[str, str]) -> str:
    """The text of a template, with values for its marks; a value may contain marks that follow."""
    text = template(name)
    for mark, value in said.items():
        text = text.replace(mark, value)
    return text
