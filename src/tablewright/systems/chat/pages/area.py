"""Zoo chat's area: animals and chats for children, children and consent for parents, the queue for zookeepers.

What is published (policy.py) is open to everyone. All of them use page.py.
"""

from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import gather
from tablewright.pages.area import Area, Nav
from tablewright.pages.layout import Console
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.pages.admin import admin_router
from tablewright.systems.chat.pages.child_login import child_login_router
from tablewright.systems.chat.pages.children import children_router
from tablewright.systems.chat.pages.consent import consent_router
from tablewright.systems.chat.pages.family import family_router
from tablewright.systems.chat.pages.home import home_router
from tablewright.systems.chat.pages.inspector import inspector_router
from tablewright.systems.chat.pages.page import HOME, ChatPages
from tablewright.systems.chat.pages.policy import policy_router
from tablewright.systems.chat.pages.review import review_router
from tablewright.systems.chat.pages.search import finder
from tablewright.systems.chat.pages.talk import talk_router
from tablewright.systems.chat.pages.zoo import zoo_router

OTHERS = ("student", "zookeeper", "administrator")
PAGES = (
    Nav("Animals", "", ("student",), icon="paw"),
    Nav("My chats", "chats", ("student",), icon="chat"),
    # A parent's login has no role here: what a parent may do is decided by the families.
    Nav("Children", "children", (), OTHERS, icon="people"),
    Nav("Family", "families", (), OTHERS, icon="home"),
    Nav("Review", "review", ("zookeeper", "administrator"), icon="flag"),
    Nav("Zoo", "zoo", ("zookeeper", "administrator"), icon="paw"),
    Nav("Guardrails", "guardrails", ("zookeeper", "administrator"), icon="shield"),
    Nav("Figures", "admin", ("administrator",), icon="chart"),
    Nav("Quality", "admin/quality", ("administrator",), icon="check"),
    Nav("Migration", "admin/migration", ("administrator",), icon="transfer"),
    Nav("Inspector", "inspector", ("administrator",), icon="search"),
    Nav("Compliance", "compliance", ("administrator",), icon="docs"),
    Nav("Notice to parents", "policy/notice", None, ("student",), icon="info"),
)


def chat_area(chat: Chat, console: Console, who: FindPrincipal) -> Area:
    """The area of SYSTEM.pages."""
    pages = ChatPages(console, who, chat)
    router = home_router(pages)
    gather(
        router,
        (
            policy_router(pages),
            talk_router(pages),
            children_router(pages),
            child_login_router(pages),
            consent_router(pages),
            family_router(pages),
            review_router(pages),
            zoo_router(pages),
            admin_router(pages),
            inspector_router(pages),
        ),
    )
    return Area(
        "chat",
        "Zoo chat",
        "paw",
        "rose",
        PAGES,
        router,
        about="Children talk with the animals of a zoo; their parents decide what is kept.",
        search=finder(chat),
        finds="an animal, a chat or a child",
        also=((f"{HOME}/talk", "chats"), (f"{HOME}/policy", "policy/notice")),
    )
