"""The animals as zookeepers see them: what they are like, in versions; what they know; a preview; on and off."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, FormWrong, Posted, form_of, read
from tablewright.pages.layout import Crumb
from tablewright.systems.chat.access import Zookeeper
from tablewright.systems.chat.family.people import actor_of
from tablewright.systems.chat.model import Strategy, Value
from tablewright.systems.chat.pages.page import HOME, ChatPages, typed_fields

LIST = f"{HOME}/zoo"
LISTED = Crumb("Zoo", LIST)
STRATEGIES: tuple[tuple[Strategy, str], ...] = (
    ("hybrid", "Summaries and recent messages"),
    ("buffer", "Recent messages only"),
    ("summary", "Summaries, then what they do not cover"),
    ("vector", "Memories near to the question, and recent messages"),
)
PICTURES = ("red_panda", "lion", "penguin", "elephant", "paw")


class About(Value):
    """What a new animal is called."""

    name: str
    species: str
    picture: str = "paw"


class Character(Value):
    """What an animal is like."""

    personality: str
    greeting: str
    instructions: str = ""
    strategy: Strategy = "hybrid"
    buffer_messages: int = 10
    token_limit: int = 4000
    reply_tokens: int = 300
    note: str = ""


class Fact(Value):
    """What an animal knows; `words` are words of questions that it answers."""

    topic: str
    text: str
    words: str = ""


def animal_path(animal_id: str) -> str:
    return f"{LIST}/{animal_id}"


def add_zoo(router: APIRouter, pages: ChatPages) -> None:
    _add_list(router, pages)
    _add_animal(router, pages)
    _add_facts(router, pages)


def _add_list(router: APIRouter, pages: ChatPages) -> None:
    animals = pages.chat.animals

    @router.get("/zoo")
    def zoo(request: Request, me: Zookeeper) -> Response:
        return pages.page(request, "zoo", title="Zoo", animals=animals.all(disabled=True))

    def new_page(request: Request, form: Form, status: int = 200) -> Response:
        return pages.page(
            request, "animal_form", title="New animal", crumbs=(LISTED,), form=form, pictures=PICTURES, status=status
        )  # fmt: skip

    # Not below /zoo/{animal_id}: an animal may be called anything.
    @router.get("/new-animal")
    def new(request: Request, me: Zookeeper) -> Response:
        return new_page(request, Form({"picture": "paw"}))

    @router.post("/new-animal")
    def create(request: Request, me: Zookeeper, form: Posted) -> Response:
        try:
            about, character = (
                read(typed_fields(form, About), About),
                read(typed_fields(form, Character), Character),
            )
            made = animals.create(
                actor_of(me), form.get("animalId").strip(), about.model_dump(), character.model_dump()
            )
        except (FormWrong, CallerError) as mistake:
            return new_page(request, form.refused(mistake), mistake.status)
        return pages.console.go(
            animal_path(made.animal_id), f"{made.name} is new. Add facts, then let children in."
        )


def _add_animal(router: APIRouter, pages: ChatPages) -> None:
    animals = pages.chat.animals

    def shown(
        request: Request, animal_id: str, form: Form | None = None, fact: Form | None = None, status: int = 200,
        preview: Mapping[str, str] | None = None,
    ) -> Response:  # fmt: skip
        profile = animals.profile(animal_id)
        return pages.page(
            request,
            "animal",
            title=profile.animal.name,
            crumbs=(LISTED,),
            profile=profile,
            at=animal_path(animal_id),
            configs=animals.configs(animal_id),
            form=form or form_of(profile.config.model_dump(by_alias=True, mode="json", exclude={"note"})),
            fact=fact or Form(),
            strategies=STRATEGIES,
            preview=preview,
            status=status,
        )

    @router.get("/zoo/{animal_id}")
    def animal(request: Request, animal_id: str, me: Zookeeper) -> Response:
        return shown(request, animal_id)

    @router.post("/zoo/{animal_id}")
    def publish(request: Request, animal_id: str, me: Zookeeper, form: Posted) -> Response:
        try:
            given = read(typed_fields(form, Character), Character)
            if form.get("do") == "preview":
                asked = form.get("question") or "Who are you?"
                said = pages.chat.providers.persona(animals.draft(animal_id, given.model_dump())).answer(
                    asked, ()
                )
                return shown(request, animal_id, form, preview={"question": asked, "answer": said})
            made = animals.publish(actor_of(me), animal_id, given.model_dump())
        except (FormWrong, CallerError) as mistake:
            return shown(request, animal_id, form.refused(mistake), status=mistake.status)
        return pages.console.go(animal_path(animal_id), f"Version {made.config_version} is in use.")

    @router.post("/zoo/{animal_id}/use")
    def use(request: Request, animal_id: str, me: Zookeeper, form: Posted) -> Response:
        number = int(form.get("number")) if form.get("number").isdigit() else 0
        animals.use(actor_of(me), animal_id, number)
        return pages.console.go(animal_path(animal_id), f"Version {number} is in use.")

    @router.post("/zoo/{animal_id}/switch")
    def switch(request: Request, animal_id: str, me: Zookeeper, form: Posted) -> Response:
        changes: dict[str, Any] = {"is_enabled": bool(form.get("on"))}
        found = animals.change(actor_of(me), animal_id, changes)
        said = "can be talked to." if found.is_enabled else "takes no chats."
        return pages.console.go(animal_path(animal_id), f"{found.name} {said}")

    @router.post("/zoo/{animal_id}/facts")
    def add_fact(request: Request, animal_id: str, me: Zookeeper, form: Posted) -> Response:
        try:
            given = read(typed_fields(form, Fact), Fact)
            words = [each.strip().lower() for each in given.words.split(",") if each.strip()]
            animals.add_fact(actor_of(me), animal_id, given.topic, given.text, words)
        except (FormWrong, CallerError) as mistake:
            return shown(request, animal_id, fact=form.refused(mistake), status=mistake.status)
        return pages.console.go(f"{animal_path(animal_id)}#facts", "Fact added.")


def _add_facts(router: APIRouter, pages: ChatPages) -> None:
    animals = pages.chat.animals

    @router.post("/zoo/{animal_id}/facts/{knowledge_id}/remove")
    def remove(request: Request, animal_id: str, knowledge_id: str, me: Zookeeper) -> Response:
        animals.remove_fact(actor_of(me), animal_id, knowledge_id)
        return pages.console.go(f"{animal_path(animal_id)}#facts", "Fact removed.")

    @router.post("/zoo/{animal_id}/facts/{knowledge_id}/switch")
    def switch(request: Request, animal_id: str, knowledge_id: str, me: Zookeeper, form: Posted) -> Response:
        animals.change_fact(actor_of(me), animal_id, knowledge_id, {"is_enabled": bool(form.get("on"))})
        return pages.console.go(f"{animal_path(animal_id)}#facts", "Saved.")
