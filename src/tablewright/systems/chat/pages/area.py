"""Zoo chat's area: animals and chats for children, children and consent for parents, the queue for zookeepers.

What is published (policy.py) is open to everyone. All of them use page.py.
"""

from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.area import Area, Nav
from tablewright.pages.layout import Console
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.pages.admin import add_admin
from tablewright.systems.chat.pages.child_login import add_child_login
from tablewright.systems.chat.pages.children import add_children
from tablewright.systems.chat.pages.consent import add_consent
from tablewright.systems.chat.pages.family import add_family
from tablewright.systems.chat.pages.home import add_home
from tablewright.systems.chat.pages.inspector import add_inspector
from tablewright.systems.chat.pages.page import HOME, ChatPages
from tablewright.systems.chat.pages.policy import add_policy
from tablewright.systems.chat.pages.review import add_review
from tablewright.systems.chat.pages.search import finder
from tablewright.systems.chat.pages.talk import add_talk
from tablewright.systems.chat.pages.zoo import add_zoo

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
    router = pages.router()
    for add in (
        add_home,
        add_policy,
        add_talk,
        add_children,
        add_child_login,
        add_consent,
        add_family,
        add_review,
        add_zoo,
        add_admin,
        add_inspector,
    ):
        add(router, pages)
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
