"""What the tests of Skratch's people say to it: a home with everything around it, an API client, signing in."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests import places
from tests.systems.talk import Caller, given
from tests.systems.travel.talk import SECRET

from tablewright.client import Call
from tablewright.design import Environment
from tablewright.edge import Issuer
from tablewright.edge.identity import issuer as issuers
from tablewright.kit.delivery import OutgoingMessage
from tablewright.kit.keyring import KeyDirectory, KeyRing
from tablewright.kit.objects.directory import Directory
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.accounts import Proved, SignedIn
from tablewright.systems.travel.account.apple import DevelopmentApple
from tablewright.systems.travel.account.devices import Gadget
from tablewright.systems.travel.design import TRAVEL
from tablewright.systems.travel.travel import Travel, open_travel
from tablewright.testing import Clock

# To read a key of RSA is to check it, 35 ms: once is enough for the same one.
issuers.load_pem_private_key = cache(  # type: ignore[attr-defined,assignment]  # there is no other place for it
    issuers.load_pem_private_key  # type: ignore[attr-defined]  # as above
)

AUDIENCE = "travel"
LASTS = timedelta(hours=12)
MAIL = "ada@example.com"
PHONE = Gadget("phone", "Ada's phone", "ios")
TABLET = Gadget("tablet", "Ada's tablet", "ios")
ADMIN = "admin_ines"
Item = dict[str, Any]


def home_over(
    call: Call, clock: Clock, issuer: Issuer, path: Path, environment: Environment | None = None
) -> Home:
    """Skratch over a database, with what it keeps beside it in a directory."""
    world = clock.world()
    db = Db(call, TRAVEL, world=world, secret=SECRET, environment=environment)
    db.create_tables()
    _put_apples_key(path / "apple")
    apple = DevelopmentApple(Issuer(path / "apple", "https://apple.example", world, algorithm="RS256"))
    secrets, objects = KeyDirectory(path / "secrets", world), Directory(path / "objects", world)

    def issue(user_id: str, session_id: str, email: str | None) -> str:
        claims = {"sid": session_id}
        return issuer.issue(user_id, audience=AUDIENCE, lifetime=LASTS, email=email, claims=claims)

    keyring = KeyRing("skratch", secrets, world)
    travel = open_travel(db, world, keyring=keyring, issue=issue, apple=apple, objects=objects)
    return Home(travel, db, call, clock, issuer, apple, secrets, objects)


def _put_apples_key(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in _apples_key().items():
        if not (directory / name).exists():
            (directory / name).touch(mode=0o600)
            (directory / name).write_bytes(content)


@cache
def _apples_key() -> dict[str, bytes]:
    """The files of an issuer's key: one of RSA takes longer to find than most tests take."""
    with TemporaryDirectory() as made:
        Issuer(made, "https://apple.example", Clock().world(), algorithm="RS256")
        return {file.name: file.read_bytes() for file in Path(made).iterdir()}


@dataclass(frozen=True)
class Home:
    """Skratch with logins, mail and objects."""

    travel: Travel
    db: Db
    call: Call
    clock: Clock
    issuer: Issuer
    apple: DevelopmentApple
    secrets: KeyDirectory
    objects: Directory

    # --- people ---

    def by_apple(
        self, subject: str = "001.ada", gadget: Gadget = PHONE, email: str | None = None
    ) -> SignedIn:
        return self.travel.accounts.sign_in(Proved("apple", subject, email), gadget)

    def by_mail(self, email: str = MAIL, gadget: Gadget = PHONE) -> SignedIn:
        """In by a code, as the mail said it."""
        self.clock.move(timedelta(milliseconds=1))  # so that the newest code is the newest
        self.travel.email_login.start(email)
        address = self.travel.email_login.prove(email, self.code())
        return self.travel.accounts.sign_in(Proved("email", email=address), gadget)

    def letters(self) -> list[OutgoingMessage]:
        """What waits to be sent, the oldest first."""
        leaving = self.travel.dispatch
        made = [leaving.render(message) for message in leaving.by_state("PENDING")]
        return [letter for letter in made if letter is not None]

    def code(self) -> str:
        """The newest code that was sent."""
        found = [re.search(r"code is (\d{6})", letter.body) for letter in self.letters()]
        return [match[1] for match in found if match is not None][-1]

    # --- behind their back ---

    def items(self) -> list[Item]:
        """Everything in the table, as it is stored."""
        return places.scan(self.db, self.call, d.table.table.name)

    def everything(self) -> dict[str, list[Item]]:
        """Every table, receipts and those of consumers too."""
        found: dict[str, list[Item]] = {}
        for name in self.call("ListTables", {})["TableNames"]:
            found[name] = list(self._scanned(name))
        return found

    def _scanned(self, name: str) -> Iterator[Item]:
        start: dict[str, Any] = {}
        while True:
            answer = self.call("Scan", {"TableName": name, "ConsistentRead": True, **start})
            yield from answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def mentions(self, *words: str) -> list[str]:
        """Where any of the words stands in any table: tables and items, for a message that helps."""
        return [
            f"{table}: {said}"
            for table, items in self.everything().items()
            for said in (*map(repr, items), *unpacked(items))
            if any(word in said for word in words)
        ]


def unpacked(items: list[Item]) -> Iterator[str]:
    """What the parked records among some items say: they are compressed, and in pieces."""
    records: dict[str, list[bytes]] = defaultdict(list)
    for item in sorted(items, key=lambda item: item.get("SK", {}).get("S", "")):
        if item.get("SK", {}).get("S", "").startswith("PIECE#"):
            data = item["data"]["B"]
            place = f"{item['PK']['S']} {item['SK']['S'].rpartition('#')[0]}"
            records[place].append(data if isinstance(data, bytes) else b64decode(data))
    for place, parts in records.items():
        yield f"{place}: {zlib.decompress(b''.join(parts)).decode()}"


class Api(Caller[str]):
    """The API over real HTTP. `by` is a traveller, or an admin; with `device=` as the device of one."""

    prefix = "/travel/v1"

    def token(self, by: str) -> str:
        roles = ("admin",) if by == ADMIN else ()
        return self._issuer.issue(by, audience=AUDIENCE, lifetime=timedelta(hours=1), roles=roles)

    def sign_in(self, home: Home, subject: str = "001.ada", device: str = "phone", **more: Any) -> Any:
        """In with Apple, all the way; the answer."""
        nonce = given(self.post("/auth/apple:start"))["nonce"]
        token = home.apple.id_token(subject, nonce, more.pop("email", None))
        body = {"id_token": token, "nonce": nonce, "device": {"device_id": device}, **more}
        return given(self.post("/auth/apple", body))


def bearer(signed_in: Any) -> dict[str, str]:
    """The header of a login the API gave."""
    return {"Authorization": f"Bearer {signed_in['token']}"}
