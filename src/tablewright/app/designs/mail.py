"""The Mail page: the messages kept on this machine, or where mail is sent and what is waiting or failed.

Must hold: messages contain sign-in codes, so they are shown only on this machine, to engineers with a second factor; in
the demo, where every visitor can sign in as any demo user, to all visitors. Elsewhere: how mail is sent (app/mail).
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.mail import Directory, Kept, Trouble
from tablewright.app.runtime import Runtime
from tablewright.edge import Principal
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import forbidden
from tablewright.edge.security import LOOPBACK_HOSTS, host_name
from tablewright.kit.delivery import OutboxStatus
from tablewright.pages.forms import Form
from tablewright.pages.layout import Console

_WHY = {
    "ConnectionRefusedError": "connection refused",
    "TimeoutError": "the server does not answer",
    "gaierror": "host not found",
    "SSLCertVerificationError": "this machine does not trust its certificate",
    "SMTPNotSupportedError": "the server does not support TLS or sign-in as configured",
    "SMTPAuthenticationError": "the server rejected the user name or password",
    "SMTPSenderRefused": "the server rejected the sender address",
    "SMTPServerDisconnected": "the server closed the connection",
}
_PROXIES_SAY = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_SECURITY = {"starttls": "STARTTLS", "tls": "TLS", "none": "without TLS"}


@dataclass(frozen=True, slots=True)
class Row:
    """A system's mail."""

    title: str
    status: OutboxStatus
    trouble: Trouble | None

    @property
    def why(self) -> str:
        """Why mail is not sent, as a sentence; an unknown error is shown by its name."""
        name = self.trouble.why if self.trouble is not None else ""
        return _WHY.get(name.partition(" ")[0], name)

    @property
    def is_stuck(self) -> bool:
        return bool(self.trouble or self.status.failed)


def add_mail(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    # In the demo also for visitors who are not signed in: the code they sign in with is here.
    reader = console.identity if console.is_demo else allowed

    @router.get("/mail")
    def mail(request: Request, caller: Annotated[Principal, Depends(reader)], to: str = "") -> Response:
        way = runtime.mail.way
        kept: list[Kept] = []
        if isinstance(way, Directory):
            if not is_here(request):
                raise forbidden("NOT_THIS_MACHINE", "Mail is shown only on the machine it is kept on.")
            kept = way.letters(to)
        rows = _rows(runtime)
        return console.page(
            request,
            "designs/mail.html",
            title="Mail",
            rows=rows,
            is_stuck=any(row.is_stuck for row in rows),
            keeps=isinstance(way, Directory),
            where=way.where,
            how="" if isinstance(way, Directory) else _SECURITY[way.security],
            sender=str(way.sender.of("")),
            letters=kept,
            form=Form({"to": to}),
        )


def is_here(request: Request) -> bool:
    """Whether the request is from this machine, by address and host name; never if it came through a proxy."""
    is_near = request.client is not None and request.client.host in ("127.0.0.1", "::1")
    if any(name in request.headers for name in _PROXIES_SAY):
        return False
    return is_near and host_name(request.headers.get("host", "")) in LOOPBACK_HOSTS


def _rows(runtime: Runtime) -> list[Row]:
    rows = []
    for post in runtime.posts:
        status = post.dispatch.status()
        trouble = runtime.mail.troubles.get(post.system) if status.waiting else None
        rows.append(Row(post.title, status, trouble))
    return rows
