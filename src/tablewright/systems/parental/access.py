"""Who may do what in parental controls: the dependencies of their API and their pages.

Must hold: whose child something is about is decided by the caller's family (family/families.py), never by the number
in the URL; to anyone else a family or a child does not exist. Support may look at a child with a reason, which the
family can read, and changes nothing. Operators see devices, rules and failures without whose they are.
"""

from typing import Annotated

from fastapi import Depends, Header, Request

from tablewright.edge import Principal
from tablewright.kit.access import Access
from tablewright.kit.tables import Actor
from tablewright.systems.parental.model import Child, Family
from tablewright.systems.parental.parental import Parental

PARENTAL: Access[Parental] = Access("parental")
# Why support looks at a family's child; the family can read it.
Why = Annotated[str | None, Header(alias="X-Reason", description="the reason, if you are support")]


def actor_of(caller: Principal) -> Actor:
    """The caller as the service takes it."""
    role = next((role for role in ("operator", "support") if role in caller.roles), "parent")
    return Actor(caller.email or caller.subject, role, caller.subject, caller.email)


signed_in = PARENTAL.require(actor_of)
operator = PARENTAL.require(actor_of, "operator", code="OPERATOR_ONLY")
network = PARENTAL.require(actor_of, "network", "operator", code="NETWORK_ONLY")

SignedIn = Annotated[Actor, Depends(signed_in)]
Operator = Annotated[Actor, Depends(operator)]
Network = Annotated[Actor, Depends(network)]  # event sources of the network, and operators


def own_family(request: Request, id: str, actor: SignedIn) -> Family:
    """A dependency: the family of the path, for its guardians; FAMILY_NOT_FOUND for anyone else."""
    return PARENTAL.service(request).families.own(actor, id)


def visible_child(request: Request, phone: str, actor: SignedIn, reason: Why = None) -> Child:
    """A dependency: the child of the path, for its guardians, and for support with a reason."""
    return PARENTAL.service(request).families.child(actor, phone, reason=reason)


def open_child(request: Request, phone: str, actor: SignedIn) -> Child:
    """A dependency: the child of the path, to be changed by its guardians; CHILD_RELEASED if its number is gone."""
    return PARENTAL.service(request).families.open_child(actor, phone)


OwnFamily = Annotated[Family, Depends(own_family)]
VisibleChild = Annotated[Child, Depends(visible_child)]
OpenChild = Annotated[Child, Depends(open_child)]
