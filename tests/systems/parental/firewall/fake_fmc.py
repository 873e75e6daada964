"""A Firewall Management Center in a thread: TLS, its paths, answers, limits and mistakes, and one device behind it.

Must hold: time is the World's, so tokens expire and deployments end when a test moves the clock; only what was deployed
stops a flow, except the addresses of dynamic objects, which count at once; a list without anything has no `items`;
120 requests a minute, ten reads and one write at a time, 2 048 000 bytes, names only once, no PATCH.
Names are seen as a device sees them: by URL over TCP only (QUIC hides them), FQDN objects by address.
"""

import base64
import json
import re
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address, ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.systems.parental.firewall.contract import HOSTS

from tablewright.systems.parental.firewall.cisco_fmc import CiscoFmc
from tablewright.systems.parental.firewall.driver import Flow
from tablewright.systems.parental.firewall.fmc_client import Connection
from tablewright.testing import Clock
from tablewright.world import World

Json = dict[str, Any]
DOMAIN, CHILD_DOMAIN = "e276abec-e0f2-11e3-8169-6d9ed49b625f", "4d3c2b1a-e0f2-11e3-8169-6d9ed49b625f"
USER, PASSWORD = "apiuser", "correct-horse"
TOKEN_LIFE = timedelta(minutes=30)
MAX_PAYLOAD = 2_048_000
MAX_LITERALS = 50
ACTIONS = {
    "ALLOW", "TRUST", "BLOCK", "MONITOR", "BLOCK_RESET", "BLOCK_INTERACTIVE", "BLOCK_RESET_INTERACTIVE",
}  # fmt: skip
KINDS = {
    "hosts": "Host", "networks": "Network", "fqdns": "FQDN", "urls": "Url",
    "protocolportobjects": "ProtocolPortObject", "dynamicobjects": "DynamicObject", "ranges": "Range",
    "networkgroups": "NetworkGroup",
}  # fmt: skip
NEEDED = {
    "hosts": ("value",), "networks": ("value",), "fqdns": ("value",), "urls": ("url",),
    "protocolportobjects": ("protocol",), "dynamicobjects": ("objectType",), "ranges": ("value",),
    "networkgroups": (),
}  # fmt: skip
# Networks of any kind share their names.
NETWORKS = ("hosts", "networks", "ranges", "fqdns", "networkgroups")


class Refused(Exception):
    """An answer that is a mistake of the asker."""

    def __init__(self, status: int, words: str) -> None:
        self.status, self.words = status, words


@dataclass
class Token:
    renewal: str
    expires: datetime
    renewed: int = 0


@dataclass
class Task:
    device: str
    done_at: datetime
    rules: list[Json]
    objects: dict[str, Json]
    fails: bool
    is_over: bool = False


@dataclass
class Device:
    """A device: what was deployed to it, and since when something else waits."""

    id: str
    name: str
    rules: list[Json] = field(default_factory=list)
    objects: dict[str, Json] = field(default_factory=dict)
    changed_at: datetime | None = None
    hits: dict[str, int] = field(default_factory=dict)


class FakeFmc:
    """An FMC with one access policy, `policy_id`, assigned to one device."""

    def __init__(self, world: World, version: str = "7.2.5 (build 208)") -> None:
        self.world, self.version = world, version
        self.requests_per_minute = 120
        self.says_when = False
        self.deploy_takes = timedelta(seconds=90)
        self.listed_after = timedelta(seconds=10)
        self.next_deployments_fail = 0
        self.dns: Mapping[str, str] = HOSTS
        self.log: list[tuple[str, str, int]] = []
        # Called while a write is being done: a test may hold it there, or let it fail.
        self.during_write: Callable[[str, str], None] = lambda method, path: None
        self.after_write: Callable[[str, str], None] = lambda method, path: None
        self.lock = threading.RLock()
        self.writing, self.reading = threading.Lock(), threading.Semaphore(10)
        self.sent: deque[datetime] = deque()
        self.tokens: dict[str, Token] = {}
        self.objects: dict[str, dict[str, Json]] = {kind: {} for kind in KINDS}
        self.mappings: dict[str, set[str]] = {}
        self.policies: dict[str, Json] = {}
        self.rules: dict[str, list[Json]] = {}
        self.assignments: dict[str, list[str]] = {}
        self.tasks: dict[str, Task] = {}
        self.device = Device(self._id(), "ftd-device-001")
        self.policy_id = self.add_policy("Families")["id"]
        self.assignments[self.policy_id] = [self.device.id]

    # --- what only a fake has ---

    def add_policy(self, name: str, action: str = "PERMIT") -> Json:
        policy: Json = {
            "id": self._id(),
            "type": "AccessPolicy",
            "name": name,
            "defaultAction": {"action": action},
        }
        self.policies[policy["id"]], self.rules[policy["id"]] = policy, []
        return policy

    def forget_tokens(self) -> None:
        """As after a restart."""
        self.tokens.clear()

    def is_blocked(self, flow: Flow) -> bool:
        """Whether the device stops a flow now."""
        with self.lock:
            self._tick()
            return self._decided(flow)[0]

    def send(self, flow: Flow) -> bool:
        """Try a flow; the rule that decided counts it. Whether it went through."""
        with self.lock:
            self._tick()
            is_blocked, rule = self._decided(flow)
            if rule is not None:
                self.device.hits[rule["id"]] = self.device.hits.get(rule["id"], 0) + 1
            return not is_blocked

    def _decided(self, flow: Flow) -> tuple[bool, Json | None]:
        for rule in self.device.rules:
            if rule["action"] != "MONITOR" and self._matches(rule, flow):
                return rule["action"].startswith("BLOCK"), rule
        return False, None

    def _matches(self, rule: Json, flow: Flow) -> bool:
        return (
            rule.get("enabled", True)
            and self._from(rule, flow.source)
            and self._to(rule.get("destinationNetworks"), flow.destination)
            and _port_matches(rule.get("destinationPorts"), flow)
            and _url_matches(rule.get("urls"), flow)
        )

    def _from(self, rule: Json, source: str) -> bool:
        if not self._to(rule.get("sourceNetworks"), source):
            return False
        given = rule.get("sourceDynamicObjects", {}).get("objects", [])
        return not given or any(
            ip_address(source) in ip_network(one) for ref in given for one in self.mappings.get(ref["id"], ())
        )

    def _to(self, given: Json | None, address: str) -> bool:
        if not given:
            return True
        values = [one["value"] for one in given.get("literals", [])]
        for ref in given.get("objects", []):
            known = self.device.objects[ref["id"]]
            values.append(
                self.dns.get(known["value"], "0.0.0.0") if known["type"] == "FQDN" else known["value"]
            )
        return bool(address) and any(ip_address(address) in ip_network(value) for value in values)

    # --- requests ---

    def answer(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Json, Json]:
        """Status, headers, JSON."""
        parts = urlsplit(url)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        is_write = method != "GET" and "/auth/" not in parts.path
        slot: Any = self.writing if is_write else self.reading
        if not slot.acquire(blocking=False):
            return self._refusal(429, "Too many requests are running")
        try:
            self._count()
            if len(body) > MAX_PAYLOAD:
                raise Refused(422, "The payload is larger than 2048000 bytes")
            if "/auth/" in parts.path:
                return 204, self._auth(parts.path.rsplit("/", 1)[-1], headers), {}
            token = self.tokens.get(headers.get("x-auth-access-token", ""))
            if token is None or token.expires <= self.world.now():
                raise Refused(401, "Access token invalid.")
            if is_write:
                self.during_write(method, parts.path)
            with self.lock:
                self._tick()
                status, told = self._route(method, parts.path, query, _json(body))
            if is_write:
                self.after_write(method, parts.path)
            return status, {}, told
        except Refused as refused:
            return self._refusal(refused.status, refused.words)
        finally:
            slot.release()

    def _refusal(self, status: int, words: str) -> tuple[int, Json, Json]:
        headers = {}
        if status == 429 and self.says_when:
            free = (
                self.sent[0] + timedelta(minutes=1) - self.world.now() if self.sent else timedelta(seconds=1)
            )
            headers["Retry-After"] = str(max(1, int(free.total_seconds() + 0.999)))
        error = {"category": "FRAMEWORK", "messages": [{"description": words}], "severity": "ERROR"}
        return status, headers, {"error": error}

    def _count(self) -> None:
        with self.lock:
            now = self.world.now()
            while self.sent and self.sent[0] <= now - timedelta(minutes=1):
                self.sent.popleft()
            if len(self.sent) >= self.requests_per_minute:
                raise Refused(429, f"More than {self.requests_per_minute} requests in a minute")
            self.sent.append(now)

    def _auth(self, what: str, headers: Mapping[str, str]) -> Json:
        now = self.world.now()
        if what == "generatetoken":
            told = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
            if headers.get("authorization") != f"Basic {told}":
                raise Refused(401, "User authentication failed")
            token = Token(self._id(), now + TOKEN_LIFE)
        else:
            old = self.tokens.get(headers.get("x-auth-access-token", ""))
            is_known = old is not None and old.renewal == headers.get("x-auth-refresh-token")
            if old is None or not is_known or old.renewed >= 3:
                raise Refused(401, "Invalid refresh token")
            self.tokens.pop(headers["x-auth-access-token"])
            token = Token(self._id(), now + TOKEN_LIFE, old.renewed + 1)
        access = self._id()
        self.tokens[access] = token
        domains = [{"name": "Global", "uuid": DOMAIN}, {"name": "Global/Families", "uuid": CHILD_DOMAIN}]
        return {
            "X-auth-access-token": access,
            "X-auth-refresh-token": token.renewal,
            "DOMAIN_UUID": DOMAIN,
            "DOMAINS": json.dumps(domains),
        }

    def _route(self, method: str, path: str, query: Json, body: Any) -> tuple[int, Json]:
        if path == "/api/fmc_platform/v1/info/serverversion":
            told = {"serverVersion": self.version, "vdbVersion": "build 365", "sruVersion": "2023-01-01"}
            return 200, _page([told], query, path)
        found = re.fullmatch(r"/api/fmc_config/v1/domain/([^/]+)/(.*)", path)
        if found is None or found[1] not in (DOMAIN, "default"):
            raise Refused(404, "The requested resource does not exist")
        match (method, *found[2].split("/")):
            case ("POST", "object", "dynamicobjectmappings"):
                return 201, self._change_mappings(body)
            case ("GET", "object", "dynamicobjects", id, "mappings"):
                self._object("dynamicobjects", id)
                items = [{"mapping": one, "type": "IP"} for one in sorted(self.mappings.get(id, ()))]
                return 200, _page(items, query, path)
            case ("GET", "object", "networkaddresses"):
                items = [
                    one for kind in ("hosts", "networks", "ranges") for one in self.objects[kind].values()
                ]
                return 200, _page(items, query, path)
            case (_, "object", kind, *rest) if kind in KINDS:
                return self._objects(method, kind, rest, query, body, path)
            case (_, "policy", "accesspolicies", id, "accessrules", *rest):
                return self._rules(method, id, rest, query, body, path)
            case ("GET", "policy", "accesspolicies", id, "operational", "hitcounts"):
                return 200, _page(self._hits(id, query), query, path)
            case (_, "policy", "accesspolicies", *rest):
                return self._policies(method, rest, query, body, path)
            case ("GET", "assignment", "policyassignments", id):
                return 200, self._assignment(id)
            case ("GET", "devices", "devicerecords"):
                return 200, _page([self._device_ref()], query, path)
            case ("GET", "deployment", "deployabledevices"):
                return 200, _page(self._deployable(), query, path)
            case ("POST", "deployment", "deploymentrequests"):
                return 202, self._deploy(body)
            case ("GET", "job", "taskstatuses", id):
                return 200, self._task(id)
        if method in ("PATCH", "PUT", "POST", "DELETE"):
            raise Refused(405, f"{method} is not supported")
        raise Refused(404, "The requested resource does not exist")

    # --- objects ---

    def _objects(
        self, method: str, kind: str, rest: list[str], query: Json, body: Any, path: str
    ) -> tuple[int, Json]:
        known = self.objects[kind]
        match (method, rest):
            case ("GET", []):
                wanted = query.get("filter", "").partition("nameStartsWith:")[2].rstrip(";")
                items = [one for one in known.values() if one["name"].startswith(wanted)]
                if query.get("expanded", "").lower() != "true":
                    items = [{name: one[name] for name in ("id", "name", "type")} for one in items]
                return 200, _page(items, query, path)
            case ("GET", [id]):
                return 200, self._object(kind, id)
            case ("POST", []):
                return 201, self._save(kind, self._id(), body)
            case ("PUT", [id]):
                if body.get("id") != id:
                    raise Refused(400, "The id in the payload is not that of the resource")
                self._object(kind, id)
                self._touch(id)
                return 200, self._save(kind, id, body)
            case ("DELETE", [id]):
                gone = self._object(kind, id)
                if any(id in json.dumps(rule) for rules in self.rules.values() for rule in rules):
                    raise Refused(409, f"{gone['name']} cannot be deleted: it is used by a policy")
                self.mappings.pop(id, None)
                return 200, known.pop(id)
        raise Refused(405, f"{method} is not supported")

    def _object(self, kind: str, id: str) -> Json:
        if id not in self.objects[kind]:
            raise Refused(404, f"There is no {KINDS[kind]} with that id")
        return self.objects[kind][id]

    def _save(self, kind: str, id: str, body: Any) -> Json:
        name = body.get("name", "")
        if not name or len(name) > 64 or re.search(r"[^\w.\- ]", name):
            raise Refused(400, f"Invalid name: {name}")
        if missing := [one for one in NEEDED[kind] if one not in body]:
            raise Refused(400, f"Missing: {', '.join(missing)}")
        same = NETWORKS if kind in NETWORKS else (kind,)
        if any(
            one["name"] == name and one["id"] != id for other in same for one in self.objects[other].values()
        ):
            raise Refused(400, f"Duplicate Name: an object with the name {name} exists")
        saved = {**body, "id": id, "type": KINDS[kind], "links": {"self": f"/object/{kind}/{id}"}}
        self.objects[kind][id] = saved
        return saved

    def _change_mappings(self, body: Any) -> Json:
        for what in ("add", "remove"):
            for one in body.get(what, []):
                id = one["dynamicObject"]["id"]
                self._object("dynamicobjects", id)
                for mapping in one["mappings"]:
                    try:
                        ip_network(mapping, strict=False)
                    except ValueError:
                        raise Refused(
                            400, f"Invalid mapping {mapping}: only addresses and networks"
                        ) from None
        for what in ("add", "remove"):
            for one in body.get(what, []):
                held = self.mappings.setdefault(one["dynamicObject"]["id"], set())
                (held.update if what == "add" else held.difference_update)(one["mappings"])
        return dict(body)

    # --- policies and rules ---

    def _policies(self, method: str, rest: list[str], query: Json, body: Any, path: str) -> tuple[int, Json]:
        match (method, rest):
            case ("GET", []):
                return 200, _page(list(self.policies.values()), query, path)
            case ("GET", [id]) if id in self.policies:
                return 200, self.policies[id]
            case ("POST", []):
                if any(one["name"] == body["name"] for one in self.policies.values()):
                    raise Refused(400, f"Duplicate Name: a policy with the name {body['name']} exists")
                return 201, self.add_policy(body["name"], body["defaultAction"]["action"])
            case ("DELETE", [id]) if id in self.policies:
                if self.assignments.get(id):
                    raise Refused(409, "The policy is assigned to devices")
                del self.rules[id]
                return 200, self.policies.pop(id)
        raise Refused(404, "There is no access policy with that id")

    def _rules(
        self, method: str, policy: str, rest: list[str], query: Json, body: Any, path: str
    ) -> tuple[int, Json]:
        if policy not in self.rules:
            raise Refused(404, "There is no access policy with that id")
        rules = self.rules[policy]
        at = next((number for number, one in enumerate(rules) if [one["id"]] == rest), None)
        if rest and at is None:
            raise Refused(404, "There is no access rule with that id")
        match (method, at):
            case ("GET", None):
                return 200, _page([self._shown(rule, rules) for rule in rules], query, path)
            case ("GET", int(number)):
                return 200, self._shown(rules[number], rules)
            case ("POST", None):
                given = body if query.get("bulk") == "true" else [body]
                made = self._insert(policy, given, query)
                shown = [self._shown(rule, rules) for rule in made]
                return 201, {"items": shown} if query.get("bulk") == "true" else shown[0]
            case ("PUT", int(number)):
                before = rules.pop(number)
                try:
                    rules.insert(number, self._checked(body, rules) | {"id": before["id"]})
                except Refused:
                    rules.insert(number, before)
                    raise
                self._changed(policy)
                return 200, self._shown(rules[number], rules)
            case ("DELETE", int(number)):
                self._changed(policy)
                return 200, rules.pop(number)
        raise Refused(405, f"{method} is not supported")

    def _insert(self, policy: str, given: Any, query: Json) -> list[Json]:
        if not isinstance(given, list) or len(given) > 1000:
            raise Refused(422, "A bulk request is a list of at most 1000 rules")
        rules = self.rules[policy]
        made = [{**self._checked(one, rules), "id": self._id()} for one in given]
        if len({one["name"] for one in made}) < len(made):
            raise Refused(400, "Duplicate Name in the payload")
        section = query.get("section", "mandatory").lower()
        at = (
            sum(1 for rule in rules if rule["section"] == "mandatory")
            if section == "mandatory"
            else len(rules)
        )
        if "insertBefore" in query:
            at = int(query["insertBefore"]) - 1
        elif "insertAfter" in query:
            at = int(query["insertAfter"])
        if not 0 <= at <= len(rules):
            raise Refused(400, "Invalid rule index")
        rules[at:at] = [{**one, "section": section} for one in made]
        self._changed(policy)
        return rules[at : at + len(made)]

    def _checked(self, rule: Any, rules: list[Json]) -> Json:
        name = rule.get("name", "")
        if not name or len(name) > 50:
            raise Refused(400, "A rule needs a name of at most 50 characters")
        if any(one["name"] == name for one in rules):
            raise Refused(400, f"Duplicate Name: a rule with the name {name} exists")
        if rule.get("action") not in ACTIONS:
            raise Refused(400, f"Invalid action {rule.get('action')}")
        if rule["action"].startswith("BLOCK") and rule.get("logEnd"):
            raise Refused(400, "A blocking rule cannot log at the end of a connection")
        everything = {id for kind in self.objects.values() for id in kind}
        for condition in (
            "sourceNetworks",
            "destinationNetworks",
            "destinationPorts",
            "urls",
            "sourceDynamicObjects",
        ):
            given = rule.get(condition) or {}
            if any(len(given.get(part, [])) > MAX_LITERALS for part in ("literals", "objects")):
                raise Refused(400, f"{condition}: more than {MAX_LITERALS} entries")
            if missing := [one["id"] for one in given.get("objects", []) if one["id"] not in everything]:
                raise Refused(400, f"{condition}: there is no object {missing[0]}")
        # A description is taken and never told.
        return {key: deepcopy(value) for key, value in rule.items() if key not in ("description", "metadata")}

    def _shown(self, rule: Json, rules: list[Json]) -> Json:
        told = {key: value for key, value in rule.items() if key != "section"}
        place = {"ruleIndex": rules.index(rule) + 1, "section": rule["section"].capitalize()}
        return {**told, "metadata": place, "links": {"self": f"/accessrules/{rule['id']}"}}

    def _hits(self, policy: str, query: Json) -> list[Json]:
        asked = dict(one.split(":", 1) for one in query.get("filter", "").strip('"').split(";") if ":" in one)
        if asked.get("deviceId") != self.device.id:
            raise Refused(400, "Filter deviceId is missing or unknown")
        shows_zero = asked.get("fetchZeroHitCount", "").lower() == "true"
        ids = asked["ids"].split(",") if "ids" in asked else None
        counted = []
        for rule in self.rules[policy]:
            hits = self.device.hits.get(rule["id"], 0)
            if (hits or shows_zero) and (ids is None or rule["id"] in ids):
                ref = {"id": rule["id"], "name": rule["name"], "type": "AccessRule"}
                counted.append({"type": "HitCount", "rule": ref, "hitCount": hits})
        return counted

    # --- deployments ---

    def _assignment(self, policy: str) -> Json:
        if not self.assignments.get(policy):
            raise Refused(404, "The policy is not assigned")
        ref = {"id": policy, "type": "AccessPolicy"}
        return {"id": policy, "type": "PolicyAssignment", "policy": ref, "targets": [self._device_ref()]}

    def _device_ref(self) -> Json:
        return {"id": self.device.id, "type": "Device", "name": self.device.name}

    def _touch(self, id: str) -> None:
        """A changed object is pending wherever a rule uses it."""
        for policy, rules in self.rules.items():
            if any(id in json.dumps(rule) for rule in rules):
                self._changed(policy)

    def _changed(self, policy: str) -> None:
        if self.device.id in self.assignments.get(policy, []):
            self.device.changed_at = self.world.now()

    def _running(self) -> bool:
        return any(not task.is_over for task in self.tasks.values())

    def _deployable(self) -> list[Json]:
        changed, is_running = self.device.changed_at, self._running()
        if not is_running and (changed is None or self.world.now() < changed + self.listed_after):
            return []
        version = str(int((changed or self.world.now()).timestamp() * 1000))
        told = {"type": "DeployableDevice", "name": self.device.name, "version": version}
        return [{**told, "canBeDeployed": not is_running, "device": self._device_ref()}]

    def _deploy(self, body: Any) -> Json:
        if body.get("type") != "DeploymentRequest" or "version" not in body or not body.get("deviceList"):
            raise Refused(400, "type, version and deviceList are needed")
        if body["deviceList"] != [self.device.id]:
            raise Refused(400, "There is no such device")
        if not self._deployable():
            raise Refused(400, "The device has no pending changes")
        if self._running():
            raise Refused(409, "A deployment is in progress")
        id = str(77309722217 + len(self.tasks))
        rules = [rule for policy in self.assignments for rule in self.rules[policy]]
        ordered = sorted(rules, key=lambda rule: str(rule["section"]) != "mandatory")
        objects = {id: one for kind in self.objects.values() for id, one in kind.items()}
        fails, self.next_deployments_fail = (
            self.next_deployments_fail > 0,
            max(0, self.next_deployments_fail - 1),
        )
        done_at = self.world.now() + self.deploy_takes
        self.tasks[id] = Task(self.device.id, done_at, deepcopy(ordered), deepcopy(objects), fails)
        if not fails:
            self.device.changed_at = None
        task = {"id": id, "links": {"self": f"/job/taskstatuses/{id}"}}
        return {**body, "metadata": {"task": task}}

    def _task(self, id: str) -> Json:
        if id not in self.tasks:
            raise Refused(404, "There is no such task")
        task = self.tasks[id]
        told = {"id": id, "type": "TaskStatus", "taskType": "DEVICE_DEPLOYMENT"}
        if not task.is_over:
            return {**told, "status": "RUNNING", "message": "Deployment in progress"}
        words = "Deployment failed: device did not answer" if task.fails else "Deployment completed"
        return {**told, "status": "FAILED" if task.fails else "SUCCESS", "message": words}

    def _tick(self) -> None:
        for task in self.tasks.values():
            if not task.is_over and task.done_at <= self.world.now():
                task.is_over = True
                if not task.fails:
                    self.device.rules, self.device.objects = task.rules, task.objects

    def _id(self) -> str:
        return self.world.new_id()


def _json(body: bytes) -> Any:
    try:
        return json.loads(body) if body else {}
    except ValueError:
        raise Refused(422, "The payload is not JSON") from None


def _page(items: list[Json], query: Json, path: str) -> Json:
    offset, limit = int(query.get("offset", 0)), min(int(query.get("limit", 25)), 1000)
    some = items[offset : offset + limit]
    paging: Json = {"offset": offset, "limit": limit, "count": len(items), "pages": -(-len(items) // limit)}
    if offset + limit < len(items):
        rest = "".join(f"&{name}={value}" for name, value in query.items() if name not in ("offset", "limit"))
        paging["next"] = [f"{path}?offset={offset + limit}&limit={limit}{rest}"]
    told: Json = {"links": {"self": path}, "paging": paging}
    return {**told, "items": some} if some else told


def _port_matches(given: Json | None, flow: Flow) -> bool:
    if not given:
        return True
    number = {"TCP": "6", "UDP": "17"}[flow.protocol]
    for one in given.get("literals", []):
        first, _, last = str(one.get("port", "1-65535")).partition("-")
        if one["protocol"] == number and int(first) <= flow.port <= int(last or first):
            return True
    return False


def _url_matches(given: Json | None, flow: Flow) -> bool:
    if not given:
        return True
    if flow.protocol != "TCP":
        return False
    urls = [one["url"] for one in given.get("literals", [])]
    return any(flow.name == url or flow.name.endswith(f".{url}") for url in urls)


# --- over TLS ---


@lru_cache(maxsize=1)
def certificates() -> tuple[bytes, bytes]:
    """An authority's certificate, and key and certificate for 127.0.0.1 that it signed; PEM."""
    authority, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("Fake CA", "fmc")]
    since, until = datetime(2020, 1, 1, tzinfo=UTC), datetime(2120, 1, 1, tzinfo=UTC)

    def certificate(subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, is_ca: bool) -> bytes:
        alternatives = [x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))]
        usage = x509.KeyUsage(
            digital_signature=not is_ca, content_commitment=False, key_encipherment=False, key_agreement=False,
            data_encipherment=False, key_cert_sign=is_ca, crl_sign=is_ca, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        built = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(names[0])
            .public_key(key.public_key())
            .serial_number(2 if is_ca else 3)
            .not_valid_before(since)
            .not_valid_after(until)
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False
            )
        )
        if not is_ca:
            built = built.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        return built.sign(authority, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    key = own.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate(names[0], authority, is_ca=True), key + certificate(names[1], own, is_ca=False)


@dataclass(frozen=True, slots=True)
class Served:
    """Where a fake is reached."""

    fmc: FakeFmc
    address: str
    ca_file: Path


@contextmanager
def serving(fmc: FakeFmc, home: Path) -> Iterator[Served]:
    """The fake, behind real TLS on a port of this machine."""
    ca_file, own_file = home / "ca.pem", home / "fmc.pem"
    authority, own = certificates()
    ca_file.write_bytes(authority)
    own_file.write_bytes(own)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own_file)
    server = _Server(("127.0.0.1", 0), _handler(fmc))
    server.tls = context
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield Served(fmc, f"127.0.0.1:{server.server_address[1]}", ca_file)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    tls: ssl.SSLContext

    def finish_request(self, request: Any, client_address: Any) -> None:
        """The handshake is the thread's work: one client that does not finish it must not hold up the others."""
        request.settimeout(10)
        try:
            secured = self.tls.wrap_socket(request, server_side=True)
        except OSError:
            return
        with secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


def _handler(fmc: FakeFmc) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            given = {name.lower(): value for name, value in self.headers.items()}
            status, headers, told = fmc.answer(self.command, self.path, given, body)
            fmc.log.append((self.command, self.path, status))
            for one in told.get("paging", {}).get("next", []):
                told["paging"]["next"] = [f"https://{self.headers['Host']}{one}"]
            content = b"" if status == 204 else json.dumps(told).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _any

        def log_message(self, format: str, *args: Any) -> None:
            """Tests read `fmc.log`."""

    return Handler


# --- the bench of the contract ---

FOREIGN = {"type": "AccessRule", "name": "OFFICE_1", "action": "BLOCK", "enabled": True}


@dataclass(frozen=True, slots=True)
class FmcBench:
    driver: CiscoFmc
    fmc: FakeFmc

    def is_blocked(self, flow: Flow) -> bool:
        return self.fmc.is_blocked(flow)

    def add_foreign(self) -> None:
        networks = {"literals": [{"type": "Network", "value": "203.0.113.0/24"}]}
        self.fmc._insert(self.fmc.policy_id, [{**FOREIGN, "destinationNetworks": networks}], {})
        self.fmc._save("dynamicobjects", "foreign", {"name": "PARENTAL_BLOCK_theirs", "objectType": "IP"})

    def has_foreign(self) -> bool:
        rules = [rule["name"] for rule in self.fmc.rules[self.fmc.policy_id]]
        return "OFFICE_1" in rules and "foreign" in self.fmc.objects["dynamicobjects"]


def connection(served: Served) -> Connection:
    """How the driver reaches the fake. Waiting is free: the clock is moved."""
    return Connection(served.address, USER, PASSWORD, ca_file=served.ca_file, patience=120, timeout=10)


@contextmanager
def bench(home: Path) -> Iterator[FmcBench]:
    """The driver against the fake, for the contract."""
    clock = Clock()
    with serving(FakeFmc(clock.world()), home) as served:
        driver = CiscoFmc(
            connection(served),
            served.fmc.policy_id,
            clock.world(),
            sleep=lambda seconds: clock.move(timedelta(seconds=seconds)),
        )
        try:
            yield FmcBench(driver, served.fmc)
        finally:
            driver.close()
