"""The animals: what they are like in versions, what they know, enabled or not, and a preview (ZC-X5).

A configuration is never changed: a change is a new version, and the animal says which one children talk to, so an
older one can be used again. Must hold: the version that an animal names exists; only an enabled animal is talked to;
every change is in the compliance log. The animals and guardrails that come with the product are in data/.
Elsewhere: how a persona answers (talk/persona.py), the instructions of a model (talk/prompts.py).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import BadRequest, Conflict
from tablewright.kit.tables import Actor
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Changed
from tablewright.systems.chat.repository import SYSTEM, Repository
from tablewright.systems.chat.zoo_model import Animal, AnimalConfig, AnimalDetails, Knowledge

DATA = Path(__file__).parent / "data" / "animals.json"
_ANIMAL_ID = re.compile(r"[a-z][a-z0-9_]{1,39}")
MOST_FACTS = 200


@dataclass(frozen=True, slots=True)
class Profile:
    """An animal with everything that a reply needs."""

    animal: Animal
    config: AnimalConfig
    details: AnimalDetails | None
    facts: tuple[Knowledge, ...]


class Animals:
    """The animals of the zoo."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    # --- reads ---

    def all(self, *, disabled: bool = False) -> list[Animal]:
        """The animals by name; those that are disabled too, for staff."""
        found = self._repository.db.every(d.animals)
        return sorted((each for each in found if disabled or each.is_enabled), key=lambda each: each.name)

    def get(self, animal_id: str) -> Animal:
        """An animal; ANIMAL_NOT_FOUND."""
        self._repository.refuse_impossible(_ANIMAL_ID.fullmatch(animal_id) is not None, "ANIMAL")
        return self._repository.found(
            self._repository.db.one(d.animals.get(animal_id), consistent=True), "ANIMAL"
        )

    def enabled(self, animal_id: str) -> Animal:
        """An animal that children can talk to; ANIMAL_NOT_FOUND, ANIMAL_AWAY if it is disabled."""
        found = self.get(animal_id)
        if not found.is_enabled:
            raise Conflict("ANIMAL_AWAY", f"{found.name} is not here at the moment. Choose another animal.")
        return found

    def display_name(self, animal_id: str) -> str:
        """The name of an animal; its id if there is none, as in chats of the first version (ZC-6)."""
        if not _ANIMAL_ID.fullmatch(animal_id):
            return animal_id
        found = self._repository.db.one(d.animals.get(animal_id))
        return found.name if found is not None else animal_id

    def profile(self, animal_id: str, config_version: int | None = None) -> Profile:
        """An animal with a version of its configuration, the one in use if none is named."""
        animal = self.get(animal_id)
        return Profile(
            animal, self.config(animal, config_version), self.details(animal_id), tuple(self.facts(animal_id))
        )

    def config(self, animal: Animal, config_version: int | None = None) -> AnimalConfig:
        key = animal.animal_id, animal.config_version if config_version is None else config_version
        return self._repository.found(self._repository.db.one(d.animal_configs.get(*key)), "VERSION")

    def configs(self, animal_id: str) -> list[AnimalConfig]:
        """All versions, the newest first."""
        return list(self._repository.db.all(d.configs_of_animal(animal_id=self.get(animal_id).animal_id)))

    def details(self, animal_id: str) -> AnimalDetails | None:
        return self._repository.db.one(d.animal_details.get(animal_id))

    def facts(self, animal_id: str) -> list[Knowledge]:
        return list(self._repository.db.all(d.knowledge_of_animal(animal_id=animal_id)))

    # --- animals ---

    def create(
        self, actor: Actor, animal_id: str, about: Mapping[str, Any], config: Mapping[str, Any]
    ) -> Animal:
        """A new animal, disabled, with the first version of its configuration."""
        if not _ANIMAL_ID.fullmatch(animal_id):
            words = "An id has 2 to 40 small letters, digits and _, and begins with a letter."
            raise BadRequest("BAD_ANIMAL_ID", words, "animalId")
        now = self._repository.now()
        animal = Animal(animal_id=animal_id, **about, config_version=1, created=now, modified=now)
        first = self._config(actor, animal_id, 1, config)
        self._repository.write(
            "ANIMAL",
            d.animals.create(animal),
            d.animal_configs.create(first),
            self._audited(animal_id, "animal created", actor, None, animal),
        )
        return animal

    def change(
        self, actor: Actor, animal_id: str, changes: Mapping[str, Any], version: int | None = None
    ) -> Animal:
        """Change the name, species or picture, or enable and disable it; VERSION_CONFLICT if it was changed since."""

        def attempt() -> Animal:
            before = self.get(animal_id)
            if version is not None and version != before.version:
                raise Changed
            after = before.model_copy(update={**changes, "modified": self._repository.now()})
            write = d.animals.change(before, after)
            self._repository.write(
                "ANIMAL", write, self._audited(animal_id, "animal changed", actor, before, after)
            )
            return after.model_copy(update={"version": before.version + 1})

        return self._repository.retried(version, attempt)

    # --- versions ---

    def publish(self, actor: Actor, animal_id: str, config: Mapping[str, Any]) -> AnimalConfig:
        """A new version of the configuration, in use from now on."""

        def attempt() -> AnimalConfig:
            before = self.get(animal_id)
            newest = next(iter(self.configs(animal_id)), None)
            number = (newest.config_version if newest else 0) + 1
            known = newest.model_dump(include=set(_CONFIG)) if newest else {}
            made = self._config(actor, animal_id, number, {**known, **config})
            self._write_use(actor, before, number, d.animal_configs.create(made))
            return made

        return self._repository.retried(None, attempt)

    def use(self, actor: Actor, animal_id: str, config_version: int) -> Animal:
        """Use another version, such as the one before; VERSION_NOT_FOUND."""

        def attempt() -> Animal:
            before = self.get(animal_id)
            self.config(before, config_version)
            return self._write_use(actor, before, config_version)

        return self._repository.retried(None, attempt)

    def _write_use(self, actor: Actor, before: Animal, number: int, *writes: Write[Any]) -> Animal:
        update = {"config_version": number, "modified": self._repository.now()}
        after = before.model_copy(update=update)
        self._repository.write(
            "ANIMAL",
            d.animals.change(before, after),
            *writes,
            self._audited(before.animal_id, "configuration in use", actor, before, after),
        )
        return after.model_copy(update={"version": before.version + 1})

    def _config(self, actor: Actor, animal_id: str, number: int, fields: Mapping[str, Any]) -> AnimalConfig:
        return AnimalConfig(
            animal_id=animal_id,
            config_version=number,
            author=actor.name,
            created=self._repository.now(),
            **fields,
        )

    def draft(self, animal_id: str, changes: Mapping[str, Any]) -> Profile:
        """An animal as it would be with these changes: for a preview; nothing is stored."""
        now = self.profile(animal_id)
        return Profile(now.animal, now.config.model_copy(update=dict(changes)), now.details, now.facts)

    # --- knowledge ---

    def set_details(self, actor: Actor, animal_id: str, fields: Mapping[str, Any]) -> AnimalDetails:
        """What is written beside the animal; replaces what was written before."""

        def attempt() -> AnimalDetails:
            self.get(animal_id)
            before = self._repository.db.one(d.animal_details.get(animal_id), consistent=True)
            after = AnimalDetails(
                animal_id=animal_id,
                **fields,
                modified=self._repository.now(),
                version=before.version if before else 1,
            )
            write = d.animal_details.change(before, after) if before else d.animal_details.create(after)
            self._repository.write(
                "DETAILS", write, self._audited(animal_id, "details changed", actor, before, after)
            )
            return after.model_copy(update={"version": before.version + 1}) if before else after

        return self._repository.retried(None, attempt)

    def add_fact(
        self, actor: Actor, animal_id: str, topic: str, text: str, words: Iterable[str] = ()
    ) -> Knowledge:
        """A new fact; TOO_MANY_FACTS."""
        if len(self.facts(self.get(animal_id).animal_id)) >= MOST_FACTS:
            raise Conflict("TOO_MANY_FACTS", f"An animal has at most {MOST_FACTS} facts.")
        fact = Knowledge(
            animal_id=animal_id,
            knowledge_id=self._repository.new_ulid(),
            topic=topic,
            text=text,
            words=list(words),
            modified=self._repository.now(),
        )
        self._repository.write(
            "FACT", d.knowledge.create(fact), self._audited(animal_id, "fact added", actor, None, fact)
        )
        return fact

    def fact(self, animal_id: str, knowledge_id: str) -> Knowledge:
        possible = _ANIMAL_ID.fullmatch(animal_id) is not None and 0 < len(knowledge_id) <= 64
        self._repository.refuse_impossible(possible and "#" not in knowledge_id, "FACT")
        return self._repository.found(
            self._repository.db.one(d.knowledge.get(animal_id, knowledge_id), consistent=True), "FACT"
        )

    def change_fact(
        self,
        actor: Actor,
        animal_id: str,
        knowledge_id: str,
        changes: Mapping[str, Any],
        version: int | None = None,
    ) -> Knowledge:
        def attempt() -> Knowledge:
            before = self.fact(animal_id, knowledge_id)
            if version is not None and version != before.version:
                raise Changed
            after = before.model_copy(update={**changes, "modified": self._repository.now()})
            entry = self._audited(animal_id, "fact changed", actor, before, after)
            self._repository.write("FACT", d.knowledge.change(before, after), entry)
            return after.model_copy(update={"version": before.version + 1})

        return self._repository.retried(version, attempt)

    def remove_fact(self, actor: Actor, animal_id: str, knowledge_id: str) -> None:
        before = self.fact(animal_id, knowledge_id)
        entry = self._audited(animal_id, "fact removed", actor, before, None)
        self._repository.write("FACT", d.knowledge.delete(before), entry)

    # --- those that come with the product ---

    def install(self) -> int:
        """Create the animals of data/animals.json that do not exist; how many."""
        known = {each.animal_id for each in self.all(disabled=True)}
        new = [each for each in json.loads(DATA.read_text()) if each["animalId"] not in known]
        for each in new:
            self._install(each)
        return len(new)

    def _install(self, given: Mapping[str, Any]) -> None:
        """One transaction, so that an animal that exists is complete."""
        animal_id, now = given["animalId"], self._repository.now()
        about = {name: given[name] for name in ("name", "species", "picture")}
        animal = Animal(
            animal_id=animal_id, **about, is_enabled=True, config_version=1, created=now, modified=now
        )
        config = self._config(
            SYSTEM, animal_id, 1, {name: given[name] for name in ("personality", "greeting")}
        )
        details = AnimalDetails.model_validate({**given["details"], "animalId": animal_id, "modified": now})
        self._repository.try_write(
            d.animals.create(animal),
            d.animal_configs.create(config),
            d.animal_details.create(details),
            *(d.knowledge.create(fact) for fact in _facts(given, now)),
            self._audited(animal_id, "animal installed", SYSTEM, None, animal),
        )

    def _audited(
        self,
        animal_id: str,
        action: str,
        actor: Actor,
        before: Animal | AnimalDetails | Knowledge | None,
        after: Animal | AnimalDetails | Knowledge | None,
    ) -> Write[Any]:
        return self._repository.audit(f"animal:{animal_id}", action, actor, before, after)


_CONFIG: Sequence[str] = (
    "personality",
    "greeting",
    "instructions",
    "strategy",
    "buffer_messages",
    "token_limit",
    "reply_tokens",
)


def _facts(given: Mapping[str, Any], now: datetime) -> list[Knowledge]:
    return [
        Knowledge(
            animal_id=given["animalId"],
            knowledge_id=f"{number:03d}",
            topic=topic,
            text=text,
            words=words,
            modified=now,
        )
        for number, (topic, text, words) in enumerate(given["facts"], 1)
    ]
