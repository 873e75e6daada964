"""Mail that leaves: into a directory, or to a real SMTP server; what servers say; the page about it."""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tablewright.app.code_login import SignedIn
from tablewright.app.mail import Directory, MailMistake, Smtp, password_in, smtp_from
from tablewright.app.mail.directory import KEPT, MOST_KEPT
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CAMPUS, PARENTAL, PORTAL, TRAVEL
from tablewright.edge import serving_app
from tablewright.kit.delivery import DeliveryDelayed, DeliveryRefused, OutgoingMessage
from tablewright.kit.system import System
from tablewright.kit.tables import Actor
from tablewright.systems.portal.seed import seed as seed_portal
from tablewright.testing import Clock
from tablewright.world import real_world

NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
FROM = "Example Ltd <post@example.com>"
LETTER = OutgoingMessage("msg_1", "ada@example.com", "Grüße\nan alle", "Your code is 123456.\nGood bye.", NOW)
PAGE = "/console/designs/mail"
SMALL_PORTAL = replace(PORTAL, seed=lambda portal, told: seed_portal(portal, told, tenants=2))


# --- a mail server of our own ---


@dataclass
class Server:
    """What a real SMTP server does with letters; `says` decides by recipient, before a letter is taken."""

    port: int = 0
    taken: list[tuple[Session, Envelope]] = field(default_factory=list)
    says: Callable[[str], str] = lambda address: "250 OK"
    dies: Callable[[str], bool] = lambda address: False
    sender_says: str = "250 OK"

    async def handle_MAIL(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return self.sender_says

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        said = self.says(address)
        if said.startswith("250"):
            envelope.rcpt_tos.append(address)
        return said

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        self.taken.append((session, envelope))
        if self.dies(envelope.rcpt_tos[0]):
            assert server.transport is not None
            server.transport.abort()  # type: ignore[attr-defined]  # a transport of a socket has it
        return "250 OK"

    @property
    def messages(self) -> list[Any]:
        return [
            message_from_bytes(envelope.original_content or b"", policy=policy.default)
            for _, envelope in self.taken
        ]

    def way(self, scheme: str = "smtp+plain", user: str = "", password: str = "") -> Smtp:
        return smtp_from(f"{scheme}://{user + '@' if user else ''}127.0.0.1:{self.port}", FROM, password)


@contextmanager
def server(port: int = 0, **options: Any) -> Iterator[Server]:
    found = Server()
    # On port 0 a controller cannot find out where it listens, so a socket finds a free port first.
    controller = Controller(found, hostname="127.0.0.1", port=port or free_port(), **options)
    controller.start()
    found.port = controller.port
    try:
        yield found
    finally:
        controller.stop()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def send(way: Smtp | Directory, *letters: OutgoingMessage, title: str = "Skratch") -> None:
    with way.opened(title) as sending:
        for letter in letters:
            sending(letter)


def to(address: str) -> OutgoingMessage:
    return replace(LETTER, id="msg_to", recipient=address)


# --- the letter ---


def test_a_letter_arrives_as_it_was_written_from_its_system() -> None:
    with server() as found:
        send(found.way(), LETTER, replace(LETTER, id="msg_2"))
        first, second = found.messages
        assert found.taken[0][0] is found.taken[1][0], "one connection for a round"
    assert first["To"] == "ada@example.com"
    assert first["From"] == "Skratch at Example Ltd <post@example.com>"
    assert first["Subject"] == "Grüße an alle"
    assert first["Message-ID"] == "<msg_1@example.com>"
    assert first["Auto-Submitted"] == "auto-generated"
    assert first["Date"].datetime == NOW
    assert first.get_content().replace("\r\n", "\n") == "Your code is 123456.\nGood bye.\n"
    assert second["Message-ID"] == "<msg_2@example.com>"


@pytest.mark.parametrize(
    "recipient", ["", "@", "ada@", "a b@example.com", "ada@example.com\nBcc: all@example.com"]
)
def test_what_is_no_address_is_refused_and_adds_no_header(recipient: str, tmp_path: Path) -> None:
    with server() as found:
        with pytest.raises(DeliveryRefused):
            send(found.way(), replace(LETTER, recipient=recipient))
        assert found.taken == []
    if recipient:  # nothing is no address, but could be a number
        with pytest.raises(DeliveryRefused):
            send(Directory(tmp_path), replace(LETTER, recipient=recipient))
    assert Directory(tmp_path).letters() == []


def test_a_letter_says_the_same_whichever_way_it_goes(tmp_path: Path) -> None:
    with server() as found:
        send(found.way(), LETTER)
        (sent,) = found.messages
    send(Directory(tmp_path), LETTER)
    (kept,) = Directory(tmp_path).letters()
    body = sent.get_content().replace("\r\n", "\n").removesuffix("\n")
    assert (sent["To"], sent["Subject"], sent["Date"].datetime, body) == (
        kept.recipient,
        kept.subject,
        kept.written,
        kept.body,
    )


def test_who_has_an_address_in_another_script_gets_letters_if_the_server_can_spell_it(tmp_path: Path) -> None:
    with server() as found:
        send(found.way(), to("zoë@bücher.example"))
        assert found.taken[0][1].rcpt_tos == ["zoë@xn--bcher-kva.example"]
    with (
        server(enable_SMTPUTF8=False) as old,
        pytest.raises(DeliveryRefused, match="does not support this address"),
    ):
        send(old.way(), to("zoë@bücher.example"))
    send(Directory(tmp_path), to("zoë@bücher.example"))
    assert [each.recipient for each in Directory(tmp_path).letters()] == ["zoë@xn--bcher-kva.example"]


def test_a_text_message_has_no_way_through_a_mail_server() -> None:
    with server() as found:
        with pytest.raises(DeliveryRefused, match="text messages"):
            send(found.way(), to("+27821234567"))
        assert found.taken == []


# --- what servers say ---


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("450 4.2.1 ada@example.com is busy", DeliveryDelayed),
        ("550 5.1.1 no ada@example.com here", DeliveryRefused),
        ("421 closing", DeliveryDelayed),
    ],
)
def test_later_and_never_are_told_apart_and_nobody_is_named(said: str, error: type[Exception]) -> None:
    with server() as found:
        found.says = lambda address: said if address == "ada@example.com" else "250 OK"
        with found.way().opened("Skratch") as sending:
            with pytest.raises(error) as raised:
                sending(LETTER)
            sending(to("ben@example.com"))
        assert str(raised.value) in (said[:3], "SMTPServerDisconnected")
        assert [message["To"] for message in found.messages] == ["ben@example.com"]


def test_a_server_that_does_not_want_us_stops_all_letters_and_costs_none() -> None:
    with server() as found:
        found.sender_says = "553 who are you"
        with pytest.raises(OSError, match="553"):
            send(found.way(), LETTER)
    with pytest.raises(ConnectionRefusedError):
        send(found.way(), LETTER)


def test_a_server_that_dies_in_the_middle_gets_the_letter_once_more_and_it_is_never_lost(
    tmp_path: Path,
) -> None:
    clock = Clock(NOW)
    with server() as found, _house(clock, tmp_path, found.way()) as runtime:
        found.dies = lambda address: len(found.taken) == 1
        runtime.running[0].service.email_login.start("ada@example.com")
        runtime.deliver()
        assert runtime.running[0].dispatch is not None
        assert runtime.running[0].dispatch.status().waiting == 1
        for _ in range(3):
            clock.move(timedelta(minutes=1))
            runtime.deliver()
        assert len({message["Message-ID"] for message in found.messages}) == 1
        assert len(found.taken) == 2
        assert runtime.running[0].dispatch.status().waiting == 0


def test_mail_waits_while_the_server_is_away_and_goes_when_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock, port = Clock(NOW), free_port()
    way = smtp_from(f"smtp+plain://127.0.0.1:{port}", FROM)
    with _house(clock, tmp_path, way) as runtime:
        dispatch = runtime.running[0].dispatch
        assert dispatch is not None
        runtime.running[0].service.email_login.start("ada@example.com")
        for _ in range(20):
            runtime.deliver()
        assert runtime.mail.troubles["travel"].why == "ConnectionRefusedError"
        with server(port=port) as found:
            runtime.deliver()
        assert [message["To"] for message in found.messages] == ["ada@example.com"]
        assert runtime.mail.troubles == {}
    told = [record.message for record in caplog.records if record.name == "tablewright.mail"]
    assert told == ["mail does not leave"], "once, not twenty times"
    assert "ada@" not in str([vars(record) for record in caplog.records])


# --- TLS and passwords ---


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of 127.0.0.1 with its key, that signed itself."""
    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "m")]),
    )
    now = real_world().now()
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "own.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


def _knows(server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: Any) -> AuthResult:
    is_right = given == LoginPassword(b"ada@example.com", b"s3cret")
    return AuthResult(success=is_right, handled=False)


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_letters_and_the_password_go_through_tls_to_who_has_the_right_certificate(
    scheme: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    options: dict[str, Any] = {"authenticator": _knows}
    options |= (
        {"ssl_context": context, "auth_require_tls": False}  # it does not see that it is inside of TLS
        if scheme == "smtps"
        else {"tls_context": context, "require_starttls": True}
    )
    with server(**options) as found:
        user = "ada%40example.com"
        with pytest.raises(ssl.SSLCertVerificationError):
            send(found.way(scheme, user, "s3cret"), LETTER)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with pytest.raises(OSError, match="535"):
            send(found.way(scheme, user, "wrong"), LETTER)
        assert found.taken == []
        send(found.way(scheme, user, "s3cret"), LETTER)
        ((session, _),) = found.taken
        assert session.authenticated
        assert session.ssl is not None or scheme == "smtps"


def test_a_server_without_tls_gets_no_letter_that_wanted_it() -> None:
    with server() as found:
        with pytest.raises(OSError, match="STARTTLS"):
            send(found.way("smtp"), LETTER)
        assert found.taken == []


@pytest.mark.parametrize(
    ("url", "sender", "password", "words"),
    [
        ("http://mail.example.com", FROM, "", "smtp://user@host:587"),
        ("smtp://", FROM, "", "smtp://user@host:587"),
        ("smtp://mail.example.com:port", FROM, "", "smtp://user@host:587"),
        ("smtp://ada:s3cret@mail.example.com", FROM, "", "TABLEWRIGHT_SMTP_PASSWORD"),
        ("smtp://ada@mail.example.com", FROM, "", "TABLEWRIGHT_SMTP_PASSWORD"),
        ("smtp+plain://ada@192.0.2.1", FROM, "s3cret", "without TLS"),
        ("smtp://mail.example.com", "nobody", "", "--mail-from"),
        ("smtp://mail.example.com", "Ada <ada@>", "", "--mail-from"),
    ],
)
def test_a_way_that_cannot_be_used_is_said_with_what_to_do(
    url: str, sender: str, password: str, words: str
) -> None:
    with pytest.raises(MailMistake, match=re.escape(words)) as mistake:
        smtp_from(url, sender, password)
    assert "s3cret" not in str(mistake.value)


def test_a_way_is_read_with_its_usual_port_and_does_not_show_its_password() -> None:
    way = smtp_from("smtps://ada%40x@mail.example.com", FROM, "s3cret")
    assert (way.host, way.port, way.security, way.user) == ("mail.example.com", 465, "tls", "ada@x")
    assert "s3cret" not in repr(way)
    assert smtp_from("smtp://mail.example.com", FROM).port == 587


def test_a_password_file_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("s3cret\n")
    file.chmod(0o644)
    with pytest.raises(MailMistake, match="chmod 600"):
        password_in(file)
    file.chmod(0o600)
    assert password_in(file) == "s3cret"


# --- the directory ---


def test_a_letter_is_a_file_for_its_owner_alone_and_the_same_letter_is_the_same_file(tmp_path: Path) -> None:
    way = Directory(tmp_path / "mail")
    send(way, LETTER, LETTER, replace(to("+27821234567"), written=NOW + timedelta(seconds=1)))
    text, mail = way.letters()
    assert (mail.recipient, mail.subject, mail.written) == ("ada@example.com", "Grüße an alle", NOW)
    assert mail.body == LETTER.body
    assert mail.sender == "Skratch <tablewright@localhost>"
    assert text.recipient == "+27821234567"
    assert [each.recipient for each in way.letters(" ADA@example.com")] == ["ada@example.com"]
    assert stat.S_IMODE((tmp_path / "mail").stat().st_mode) == 0o700
    files = list((tmp_path / "mail").iterdir())
    assert len(files) == 2
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_letter_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    way = Directory(tmp_path)

    def full(handle: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        send(way, LETTER)
    assert way.letters() == []
    monkeypatch.undo()
    send(way, LETTER)
    assert len(way.letters()) == len(list(tmp_path.iterdir())) == 1, "the draft is gone too"


def test_letters_do_not_stay_for_ever(tmp_path: Path) -> None:
    way = Directory(tmp_path)
    send(way, *(replace(LETTER, id=f"m{n}", written=NOW + timedelta(seconds=n)) for n in range(3)))
    assert way.prune(NOW + KEPT) == 0
    assert way.prune(NOW + KEPT + timedelta(seconds=2)) == 2
    (tmp_path / "not ours.txt").write_text("x")
    for n in range(MOST_KEPT + 2):
        (tmp_path / f"20261116T090000.{n:06}Z-x.eml").write_text("x")
    assert way.prune(NOW) == 3
    assert len(list(tmp_path.iterdir())) == MOST_KEPT + 1


# --- the systems ---


@contextmanager
def _house(
    clock: Clock,
    home: Path,
    way: Smtp | None = None,
    systems: tuple[System, ...] = (TRAVEL,),
    seed: bool = False,
) -> Iterator[Runtime]:
    with open_app(
        home, systems=systems, world=clock.world(), jobs=False, seed=seed, durability="relaxed", mail=way
    ) as runtime:
        yield runtime


def test_a_code_that_skratch_mails_signs_its_reader_in(tmp_path: Path) -> None:
    """As a newcomer does on a fresh machine: nothing is called but HTTP and the page that shows the letter."""
    with (
        open_app(tmp_path, systems=(TRAVEL,), seed=False, durability="relaxed") as runtime,
        serving_app(app_of(runtime)) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):
        start = client.post("/travel/v1/auth/email:start", json={"email": "new@comer.example"})
        assert start.status_code == 202
        found, waiting = None, threading.Event()
        for _ in range(150):
            found = re.search(
                r"Your code is (\d{6})", client.get(PAGE, params={"to": "new@comer.example"}).text
            )
            if found is not None:
                break
            waiting.wait(0.1)
        assert found is not None
        body = {"email": "new@comer.example", "code": found[1], "device": {"device_id": "phone"}}
        signed = client.post("/travel/v1/auth/email:verify", json=body)
        token = signed.json()["token"]
        me = client.get("/travel/v1/me", headers={"Authorization": f"Bearer {token}"})
        assert me.json()["email"] == "new@comer.example"
    (file,) = (tmp_path / "mail").iterdir()
    assert b"From: Skratch <tablewright@localhost>" in file.read_bytes()


def test_invitations_and_codes_of_parental_controls_and_orders_of_the_portal_go_the_same_way(
    tmp_path: Path,
) -> None:
    anna = Actor("anna@example.com", "parent", "anna", "anna@example.com")
    with _house(Clock(NOW), tmp_path, systems=(PORTAL, PARENTAL)) as runtime:
        portal, parental = (each.service for each in runtime.running)
        family = parental.families.create("The Bells", anna)
        parental.guardians.invite(family.family_id, "ben@example.com", anna)
        parental.children.prove("+27821234567", anna, family.family_id)
        portal.repository.db.write(
            portal.repository.outbox.mail(
                "zoe@example.com", "order", {"number": "1", "summary": "Thank you.", "link": "/x"}
            )
        )
        runtime.deliver()
        way = runtime.mail.way
        assert isinstance(way, Directory)
        found = {letter.recipient: letter for letter in way.letters()}
    assert set(found) == {"ben@example.com", "+27821234567", "zoe@example.com"}
    assert "/console/parental/invitations/" in found["ben@example.com"].body
    assert re.search(r"\d{6}", found["+27821234567"].body)
    assert found["zoe@example.com"].sender == "Customer portal <tablewright@localhost>"


@pytest.mark.parametrize("system", [SMALL_PORTAL, CAMPUS], ids=lambda system: system.name)
def test_the_demo_world_sends_nothing(tmp_path: Path, system: System) -> None:
    with server() as found, _house(Clock(NOW), tmp_path, found.way(), (system,), seed=True) as runtime:
        runtime.deliver()
        assert runtime.running[0].dispatch is not None
        assert runtime.running[0].dispatch.status().waiting == 0
        assert found.taken == []


# --- the page ---


def test_letters_are_shown_on_this_machines_own_console_only_and_without_the_demo_to_engineers(
    tmp_path: Path,
) -> None:
    with _house(Clock(NOW), tmp_path) as runtime, ExitStack() as stack:
        runtime.running[0].service.email_login.start("ada@example.com")
        runtime.deliver()
        demo = stack.enter_context(serving_app(app_of(runtime, hosts=["shop.example"])))
        shown = httpx.get(demo + PAGE)
        assert "Your Skratch code" in shown.text
        away = httpx.get(demo + PAGE, headers={"Host": "shop.example"})
        assert (away.status_code, "Your Skratch code" in away.text) == (403, False)
        alone = stack.enter_context(serving_app(app_of(runtime, is_demo=False)))
        assert "Your Skratch code" not in httpx.get(alone + PAGE).text
        account = runtime.accounts.add("rosa@example.com", roles=["engineer"])
        once, twice = (runtime.login_of(SignedIn(account, how)) for how in (("otp",), ("pwd", "otp", "mfa")))
        refused = httpx.get(alone + PAGE, headers={"Authorization": f"Bearer {once}"})
        assert (refused.status_code, "Your Skratch code" in refused.text) == (403, False)
        rosa = {"Authorization": f"Bearer {twice}"}
        assert "Your Skratch code" in httpx.get(alone + PAGE, headers=rosa).text
        # A proxy on this machine may call the server by this machine's name.
        behind = httpx.get(alone + PAGE, headers={**rosa, "X-Forwarded-For": "203.0.113.7"})
        assert (behind.status_code, "Your Skratch code" in behind.text) == (403, False)


def test_with_a_mail_server_the_page_says_where_mail_goes_what_waits_and_what_failed(tmp_path: Path) -> None:
    with server() as found, _house(Clock(NOW), tmp_path, found.way()) as runtime:
        found.says = lambda address: "550 no" if address.startswith("bad") else "250 OK"
        login = runtime.running[0].service.email_login
        login.start("bad@example.com")
        runtime.deliver()
        found.sender_says = "553 no"
        login.start("ada@example.com")
        runtime.deliver()
        with serving_app(app_of(runtime)) as url:
            text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", httpx.get(url + PAGE).text))
    assert f"127.0.0.1 port {found.port} (without TLS), from Example Ltd &lt;post@example.com&gt;" in text
    assert "Mail from Skratch is not being sent" in text
    assert "the server rejected the sender address" in text
    assert "Skratch 1 1 550: 1" in text
    assert "ada@example.com" not in text
