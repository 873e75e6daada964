"""Zoo chat's results of a search: animals for everyone, one's own chats, one's own children, pages for staff.

Must hold: a caller finds only what they may read; texts of chats are not searched here.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from tablewright.edge import Principal
from tablewright.edge.errors import CallerError
from tablewright.pages.area import Hit
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.pages.page import HOME, STAFF

_FEWEST_LETTERS, _HITS = 2, 5
Find = Callable[[Chat, User, str], Iterator[Hit]]


def _animals(chat: Chat, user: User, text: str) -> Iterator[Hit]:
    is_staff = user.role in STAFF
    for animal in chat.animals.all(disabled=is_staff):
        if text in f"{animal.name} {animal.species}".casefold():
            where = f"{HOME}/zoo/{animal.animal_id}" if is_staff else HOME
            yield Hit(animal.name, where, animal.species.capitalize())


def _chats(chat: Chat, user: User, text: str) -> Iterator[Hit]:
    for each in chat.conversations.of_user(user.user_id, 100).items:
        if text in each.animal_name.casefold():
            yield Hit(
                f"Chat with {each.animal_name}",
                f"{HOME}/talk/{each.conversation_id}",
                f"{each.message_count} messages",
            )


def _children(chat: Chat, user: User, text: str) -> Iterator[Hit]:
    for child in chat.families.children_of(user):
        if text in child.name.casefold():
            yield Hit(child.name, f"{HOME}/children/{child.user_id}", "Your child")


def _guardrails(chat: Chat, user: User, text: str) -> Iterator[Hit]:
    if user.role in STAFF:
        for each in chat.guardrails.all():
            if text in each.title.casefold():
                yield Hit(each.title, f"{HOME}/guardrails/{each.guardrail_id}", "Guardrail")


FINDERS: tuple[Find, ...] = (_animals, _chats, _children, _guardrails)


def finder(chat: Chat) -> Callable[[Principal, str], Sequence[Hit]]:
    def search(caller: Principal, text: str) -> Sequence[Hit]:
        wanted = text.strip().casefold()
        if len(wanted) < _FEWEST_LETTERS or not caller.is_known:
            return ()
        try:
            user = chat.people.entered(caller)
        except CallerError:
            return ()
        return tuple(hit for find in FINDERS for hit in islice(find(chat, user, wanted), _HITS))

    return search
