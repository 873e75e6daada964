"""Every entity with personal data is reached by export and erasure, or is named with a reason (D-14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tablewright.app.runtime import Runtime, open_app
from tablewright.design import Data, Design, EntitySpec
from tablewright.kit.subjects import Left, Part, Step, Subject

PERSONAL = frozenset((Data.PERSONAL, Data.CHILD))
SYSTEMS = ("campus", "chat", "parental", "portal", "travel")


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    with open_app(memory=True, seed=False, jobs=False) as runtime:
        yield runtime


@pytest.fixture(params=SYSTEMS)
def subjects(runtime: Runtime, request: pytest.FixtureRequest) -> tuple[Design, list[Subject[Any]]]:
    (running,) = [one for one in runtime.running if one.system.name == request.param]
    (design,) = running.system.designs
    return design, list(running.system.subjects(running.service))


def personal(design: Design) -> dict[str, EntitySpec]:
    """The entities with a personal field, and those whose key has a field that is personal in another entity."""
    named = {name for shape in design.shapes for name, data in shape.data.items() if data in PERSONAL}
    named.discard("name")  # of a counter or a round: no person's
    return {
        shape.tag: shape
        for shape in design.shapes
        if not PERSONAL.isdisjoint(shape.data.values()) or named & set(shape.key.parameters)
    }


def parts(subjects: list[Subject[Any]]) -> list[Part[Any, Any] | Step[Any] | Left]:
    return [part for subject in subjects for part in subject.parts]


def test_there_is_personal_data_in_every_system(subjects: tuple[Design, list[Subject[Any]]]) -> None:
    design, found = subjects
    assert len(personal(design)) >= 5
    assert found


def test_d14_every_entity_with_personal_data_is_exported_or_says_why_not(
    subjects: tuple[Design, list[Subject[Any]]],
) -> None:
    design, found = subjects
    reached = {
        shape.tag
        for part in parts(found)
        for shape in part.entities
        if isinstance(part, Left) or part.hidden or (isinstance(part, Part) and part.name)
    }
    assert personal(design).keys() - reached == set()


def test_d14_every_entity_with_personal_data_is_erased_or_says_why_it_is_kept(
    subjects: tuple[Design, list[Subject[Any]]],
) -> None:
    design, found = subjects
    reached = {shape.tag for part in parts(found) for shape in part.entities}
    whole = {part.place[:2] for part in parts(found) if isinstance(part, Part) and part.is_whole}
    reached |= {
        tag for tag, shape in personal(design).items() if (shape.table.name, _bare(shape.pk.text)) in whole
    }
    assert personal(design).keys() - reached == set()


def test_what_is_kept_or_redacted_does_not_lie_in_a_partition_that_is_deleted_whole(
    subjects: tuple[Design, list[Subject[Any]]],
) -> None:
    for subject in subjects[1]:
        found = [part for part in subject.parts if isinstance(part, Part)]
        whole = {part.place for part in found if part.is_whole}
        stays = {part.place for part in found if (part.keep or part.redact) and not part.pattern.plan.index}
        assert whole & stays == set()


def test_every_part_is_exported_or_says_why_not_and_a_reason_is_a_sentence(
    subjects: tuple[Design, list[Subject[Any]]],
) -> None:
    for part in parts(subjects[1]):
        reasons = [part.reason if isinstance(part, Left) else part.hidden]
        if isinstance(part, Part):
            assert bool(part.name) != bool(part.hidden), part.pattern
            reasons.append(part.keep)
        assert all(len(reason.split()) >= 3 for reason in reasons if reason), reasons


def _bare(template: str) -> str:
    """A key template without the names of its fields: what an entity calls its owner is its own."""
    return re.sub(r"\{[^}]*\}", "{}", template)
