"""Animals: `/animals` for everyone who is signed in; their versions, facts and a preview for zookeepers (ZC-X5)."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field, StringConstraints

from tablewright.edge.routes import Router
from tablewright.kit.http import Body, Page, VersionRead, listed, marked, view_of
from tablewright.systems.chat.access import Me, Zookeeper
from tablewright.systems.chat.animals import Profile
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family.people import actor_of
from tablewright.systems.chat.model import Strategy, Value
from tablewright.systems.chat.talk.models import ModelAway, Spoken
from tablewright.systems.chat.talk.output_guard import OutputGuard
from tablewright.systems.chat.zoo_model import Animal, AnimalConfig, AnimalDetails, Knowledge

Short = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Long = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]


class AnimalView(Value):
    """An animal as children see it."""

    animal_id: str
    name: str
    species: str
    picture: str
    is_enabled: bool
    config_version: int
    version: int


class AnimalPage(AnimalView):
    """An animal with its greeting and what is written beside it."""

    greeting: str
    details: AnimalDetails | None = None
    fact_count: int


class ConfigChange(Body):
    """A version that differs in these from the newest one."""

    personality: Long | None = None
    greeting: Line | None = None
    instructions: Annotated[str, StringConstraints(max_length=4000)] | None = None
    strategy: Strategy | None = None
    buffer_messages: int | None = Field(default=None, ge=1, le=100)
    token_limit: int | None = Field(default=None, ge=500, le=100_000)
    reply_tokens: int | None = Field(default=None, ge=20, le=2000)
    note: Annotated[str, StringConstraints(max_length=500)] | None = None


class NewAnimal(Body):
    animal_id: Short
    name: Short
    species: Short
    picture: Short = "paw"
    personality: Long
    greeting: Line


class AnimalChange(Body):
    name: Short | None = None
    species: Short | None = None
    picture: Short | None = None
    is_enabled: bool | None = None


class DetailsChange(Body):
    scientific_name: Line
    home: Line
    food: Line
    size: Line
    life_span: Line
    status: Line


class NewFact(Body):
    topic: Short
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
    words: list[Short] = Field(default_factory=list, max_length=30)


class FactChange(Body):
    topic: Short | None = None
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)] | None = (
        None
    )
    words: list[Short] | None = Field(default=None, max_length=30)
    is_enabled: bool | None = None


class Preview(Body):
    """A question for an animal as it would be with these changes; nothing is stored."""

    question: Line
    draft: ConfigChange = Field(default_factory=ConfigChange)


class PreviewView(Value):
    greeting: str
    reply: str
    model: str
    outcome: str


class VersionView(Value):
    config_version: int
    personality: str
    greeting: str
    instructions: str
    strategy: Strategy
    buffer_messages: int
    token_limit: int
    reply_tokens: int
    author: str
    note: str
    created: datetime
    is_in_use: bool


def animals(chat: Chat) -> APIRouter:
    api = Router(tags=["animals"])
    _add_reads(api, chat)
    _add_changes(api, chat)
    _add_versions(api, chat)
    _add_facts(api, chat)
    return api


def _add_reads(api: APIRouter, chat: Chat) -> None:
    service = chat.animals

    @api.get("/animals")
    def list_animals(user: Me) -> Page[AnimalView]:
        """The animals that can be talked to; for staff those that are disabled too."""
        is_staff = user.role in ("zookeeper", "administrator")
        return listed(view_of(AnimalView, each) for each in service.all(disabled=is_staff))

    @api.get("/animals/{animal_id}", response_model_exclude_none=True)
    def get_animal(user: Me, animal_id: str, response: Response) -> AnimalPage:
        found = service.profile(animal_id)
        return marked(response, _page(found))


def _add_changes(api: APIRouter, chat: Chat) -> None:
    service = chat.animals

    @api.post("/animals", status_code=201)
    def create_animal(user: Zookeeper, body: NewAnimal) -> AnimalView:
        """A new animal. It is disabled until it is enabled."""
        about = {"name": body.name, "species": body.species, "picture": body.picture}
        config = {"personality": body.personality, "greeting": body.greeting}
        return view_of(AnimalView, service.create(actor_of(user), body.animal_id, about, config))

    @api.patch("/animals/{animal_id}")
    def change_animal(
        user: Zookeeper, animal_id: str, body: AnimalChange, response: Response, version: VersionRead = None
    ) -> AnimalView:
        """Change its name or picture, enable or disable it."""
        changed: Animal = service.change(actor_of(user), animal_id, _sent(body), version)
        return marked(response, view_of(AnimalView, changed))

    @api.put("/animals/{animal_id}/details")
    def set_details(user: Zookeeper, animal_id: str, body: DetailsChange) -> AnimalDetails:
        return service.set_details(actor_of(user), animal_id, body.changes())


def _add_versions(api: APIRouter, chat: Chat) -> None:
    service = chat.animals

    @api.get("/animals/{animal_id}/versions")
    def list_versions(user: Zookeeper, animal_id: str) -> Page[VersionView]:
        """What the animal is like and was like, the newest version first."""
        in_use = service.get(animal_id).config_version
        return listed(_version(each, in_use) for each in service.configs(animal_id))

    @api.post("/animals/{animal_id}/versions", status_code=201)
    def publish_version(user: Zookeeper, animal_id: str, body: ConfigChange) -> VersionView:
        """A new version, in use from now on."""
        made = service.publish(actor_of(user), animal_id, _sent(body))
        return _version(made, made.config_version)

    @api.post("/animals/{animal_id}/versions/{config_version}:use")
    def use_version(user: Zookeeper, animal_id: str, config_version: int) -> AnimalView:
        """Use another version, such as the one before."""
        return view_of(AnimalView, service.use(actor_of(user), animal_id, config_version))

    @api.post("/animals/{animal_id}:preview")
    def preview(user: Zookeeper, animal_id: str, body: Preview) -> PreviewView:
        """What the animal would answer; nothing is stored, and nothing leaves the machine."""
        return _previewed(chat, service.draft(animal_id, _sent(body.draft)), body.question)


def _add_facts(api: APIRouter, chat: Chat) -> None:
    service = chat.animals

    @api.get("/animals/{animal_id}/facts")
    def list_facts(user: Zookeeper, animal_id: str) -> Page[Knowledge]:
        return listed(service.facts(service.get(animal_id).animal_id))

    @api.post("/animals/{animal_id}/facts", status_code=201)
    def add_fact(user: Zookeeper, animal_id: str, body: NewFact) -> Knowledge:
        return service.add_fact(actor_of(user), animal_id, body.topic, body.text, body.words)

    @api.patch("/animals/{animal_id}/facts/{knowledge_id}")
    def change_fact(
        user: Zookeeper, animal_id: str, knowledge_id: str, body: FactChange, version: VersionRead = None
    ) -> Knowledge:
        return service.change_fact(actor_of(user), animal_id, knowledge_id, _sent(body), version)

    @api.delete("/animals/{animal_id}/facts/{knowledge_id}", status_code=204)
    def remove_fact(user: Zookeeper, animal_id: str, knowledge_id: str) -> None:
        service.remove_fact(actor_of(user), animal_id, knowledge_id)


def _sent(body: Body) -> dict[str, object]:
    """What was sent; null is the same as not sent."""
    return {name: value for name, value in body.changes().items() if value is not None}


def _page(found: Profile) -> AnimalPage:
    return view_of(
        AnimalPage,
        found.animal,
        greeting=found.config.greeting,
        details=found.details,
        fact_count=sum(each.is_enabled for each in found.facts),
    )


def _version(config: AnimalConfig, in_use: int) -> VersionView:
    return view_of(VersionView, config, is_in_use=config.config_version == in_use)


def _previewed(chat: Chat, draft: Profile, question: str) -> PreviewView:
    """The offline persona's answer, checked as a reply is."""
    persona = chat.providers.persona(draft)
    guard = OutputGuard(chat.guardrails.moderator())
    try:
        for part in persona.reply("", [Spoken("user", question)], draft.config.reply_tokens):
            guard.feed(part)
    except ModelAway:
        pass
    guard.finish()
    return PreviewView(
        greeting=draft.config.greeting, reply=guard.text, model=persona.name, outcome=guard.verdict.outcome
    )
