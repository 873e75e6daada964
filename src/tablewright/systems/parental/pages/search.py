"""Search for parents: their own children, the children's policies, and apps that can be blocked.

Must hold: a child of another family is never found.
"""

from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

from tablewright.edge import Principal
from tablewright.kit.tables import Actor
from tablewright.pages.area import Hit
from tablewright.systems.parental.access import actor_of
from tablewright.systems.parental.pages.page import HOME, child_path
from tablewright.systems.parental.pages.words import listed, policy_title
from tablewright.systems.parental.parental import Parental

_FEWEST_LETTERS = 2
_MOST_APPS = 8


def finder(parental: Parental) -> Callable[[Principal, str], Sequence[Hit]]:
    def search(caller: Principal, text: str) -> Sequence[Hit]:
        wanted = text.strip().casefold()
        if len(wanted) < _FEWEST_LETTERS or not caller.is_known:
            return ()
        return (*_children(parental, actor_of(caller), wanted), *_apps(parental, wanted))

    return search


def _children(parental: Parental, actor: Actor, text: str) -> Iterator[Hit]:
    for child in parental.families.children(actor):
        if text in child.child_name.casefold() or text in child.phone:
            yield Hit(child.child_name, child_path(parental, child), f"Child, {child.phone}")
        for policy in parental.policies.of_child(child):
            names = [entry.app_name for entry in policy.blocked_apps]
            if text in f"{policy.notes or ''} {' '.join(names)}".casefold():
                about = f"Rule for {child.child_name}: {listed(names)}"
                yield Hit(
                    policy_title(policy), f"{child_path(parental, child)}/policies/{policy.policy_id}", about
                )


def _apps(parental: Parental, text: str) -> Iterator[Hit]:
    found = [app for app in parental.registry.offered() if text in app.app_name.casefold()]
    for app in found[:_MOST_APPS]:
        yield Hit(app.app_name, f"{HOME}/apps/{quote(app.app_name, safe='')}", f"App, {app.app_category}")
