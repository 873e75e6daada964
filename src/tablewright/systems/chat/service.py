"""Zoo chat as the app runs it: SYSTEM.

Elsewhere: its parts as one value (chat.py), HTTP (api/router.py), pages (pages/area.py).
"""

from tablewright.edge.errors import problem_for
from tablewright.kit.cache import cache_at
from tablewright.kit.erased import FOLDER as ERASED
from tablewright.kit.objects.settings import objects_at
from tablewright.kit.settings import settings_in
from tablewright.kit.subject_keys import FOLDER as KEYS
from tablewright.kit.subject_keys import KeyDestroyed
from tablewright.kit.system import Start, System
from tablewright.systems.chat import jobs, seed
from tablewright.systems.chat.api.router import router
from tablewright.systems.chat.chat import Chat, open_chat
from tablewright.systems.chat.design import DESIGNS
from tablewright.systems.chat.errors import Erased
from tablewright.systems.chat.pages.area import chat_area
from tablewright.systems.chat.settings import FILE, Settings


def start(given: Start) -> Chat:
    """Zoo chat over its tables, its objects and the keys of its people."""
    chat = open_chat(
        given.db,
        given.world,
        given.secret,
        home=given.home,
        url=given.url,
        settings=settings_in(given.home / FILE, Settings),
        cache=None if given.cache is None else cache_at(given.cache, given.world, "chat"),
        objects=None if given.objects is None else objects_at(given.objects, given.world),
        issue_login=lambda child: given.issue(child.user_id, ("student",), "", {"name": child.name}),
    )
    for consumer in jobs.consumers(chat):
        consumer.create_tables()  # before the first write: a stream has no changes from before it was created
    chat.erasure.erase_again()  # before the first request, in case its tables were restored
    chat.animals.install()
    chat.guardrails.install()
    return chat


SYSTEM = System(
    name="chat",
    title="Zoo chat",
    about="Children talk with the animals of a zoo; their parents decide what is kept.",
    designs=DESIGNS,
    start=start,
    accent="rose",
    router=router,
    pages=chat_area,
    package="tablewright.systems.chat.pages",
    people=seed.people,
    seed=seed.seed,
    dispatch=lambda chat: chat.dispatch,
    jobs=jobs.work,
    subjects=lambda chat: (chat.privacy.child, chat.privacy.adult),
    translations={KeyDestroyed: lambda _: problem_for(Erased())},
    beside=(f"objects/{ERASED}",),
    # Keys are in no copy: of a copy alone nothing that a child has written can be read.
    apart=(f"objects/{KEYS}",),
    close=Chat.close,
    service_migrations=lambda chat: (chat.legacy.migration,),
)
