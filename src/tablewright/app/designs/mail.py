"""Mail, for who runs this machine: the letters that stay on it, or where they go and what waits or failed.

Must hold: letters hold codes that sign people in, so they are shown on this machine's own console alone, to engineers
with a second factor; in the demo, where anybody may be anybody, to anybody. Elsewhere: how letters leave (app/mail).
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
from tablewright.kit.outbox import OutboxStatus
from tablewright.pages.forms import Form
from tablewright.pages.layout import Console

_WHY = {
    "ConnectionRefusedError": "nobody listens there",
    "TimeoutError": "the server does not answer",
    "gaierror": "there is no such host",
    "SSLCertVerificationError": "its certificate is none that this machine trusts",
    "SMTPNotSupportedError": "the server does not offer what was asked for, TLS or a login",
    "SMTPAuthenticationError": "the server does not accept user and password",
    "SMTPSenderRefused": "the server does not take letters from this sender",
    "SMTPServerDisconnected": "the server hangs up",
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
        """What stands in the way, for people; what has no words here is called by its name."""
        name = self.trouble.why if self.trouble is not None else ""
        return _WHY.get(name.partition(" ")[0], name)

    @property
    def is_stuck(self) -> bool:
        return bool(self.trouble or self.status.failed)


def add_mail(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    # In the demo also to who is not signed in: a code may be what they sign in with.
    reader = console.identity if console.is_demo else allowed

    @router.get("/mail")
    def mail(request: Request, caller: Annotated[Principal, Depends(reader)], to: str = "") -> Response:
        way = runtime.mail.way
        kept: list[Kept] = []
        if isinstance(way, Directory):
            if not is_here(request):
                raise forbidden("NOT_THIS_MACHINE", "Letters are shown on the machine they are kept on only.")
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
    """Whether the caller is at this machine, by address and by the name they call it; behind a proxy nobody is."""
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
