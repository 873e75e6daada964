"""The policy editor as a form: rows of times, ticked apps, own destinations; with the service's errors beside each.

Fields: `app` (one for each ticked), `everything`, `when` (always or times), `w0-start w0-end w0-day` for each row of
times, `o0-name o0-to o0-ports` for each of the family's own destinations. Pure. Must hold: nothing typed is lost,
whichever button was pressed; an error of the service is shown beside its field; parts of a policy
that the API can set and this form does not show are kept.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_network
from urllib.parse import urlsplit

from tablewright.edge.errors import BadRequest, CallerError
from tablewright.pages.forms import Form, FormWrong
from tablewright.systems.parental.firewall import compiler
from tablewright.systems.parental.model import EVERYTHING, App, BlockedApp, Policy, Port, Window
from tablewright.systems.parental.pages.page import VERSION, refused
from tablewright.systems.parental.pages.words import site_words
from tablewright.systems.parental.policy import windows
from tablewright.systems.parental.policy.destinations import check_domain
from tablewright.systems.parental.policy.policies import Draft, WrittenStatus
from tablewright.systems.parental.policy.windows import DAYS

_ROW = re.compile(r"([wo])(\d{1,3})-[a-z]+")
_PORT = re.compile(r"(\d{1,6})(?:/(tcp|udp))?", re.IGNORECASE)
_WINDOW_PARTS = {"startTime": "start", "endTime": "end", "days": "day"}
_OWN_PARTS = {"domains": "to", "ipRanges": "to", "ports": "ports", "appName": "name"}
_SCHOOL = "\n".join(DAYS[:5])
_EVERY = "\n".join(DAYS)
_BEST_KNOWN = (
    "TikTok", "Instagram", "YouTube", "Snapchat", "WhatsApp", "Discord", "Roblox", "Fortnite", "Minecraft", "Twitch",
    "Netflix", "Spotify",
)  # fmt: skip
# Times parents ask for most: the button's value, its words, and the row it adds.
PRESETS = (
    ("bedtime", "Bedtime, 22:00 to 06:00", ("22:00", "06:00", _EVERY)),
    ("school", "School, 08:00 to 15:00", ("08:00", "15:00", _SCHOOL)),
    ("another", "Another time", ("", "", _EVERY)),
)


@dataclass(frozen=True, slots=True)
class TimeRow:
    """A row of times as typed. `number` names its fields."""

    number: int
    start: str
    end: str
    days: tuple[str, ...]

    @property
    def is_blank(self) -> bool:
        return not (self.start or self.end)

    def raw(self) -> dict[str, object]:
        return {"startTime": self.start, "endTime": self.end, "days": list(self.days)}


@dataclass(frozen=True, slots=True)
class OwnRow:
    """A row of the family's own destinations as typed."""

    number: int
    name: str
    to: str
    ports: str

    @property
    def is_blank(self) -> bool:
        return not (self.name.strip() or self.to.strip() or self.ports.strip())


@dataclass(frozen=True, slots=True)
class TypedPolicy:
    """What was typed, as the service takes it, and the form field of each part."""

    draft: Draft
    fields: Mapping[str, str]


# --- rows ---


def time_rows(form: Form) -> list[TimeRow]:
    return [
        TimeRow(
            n,
            form.get(f"w{n}-start").strip(),
            form.get(f"w{n}-end").strip(),
            tuple(form.get(f"w{n}-day").split()),
        )
        for n in _numbers(form, "w")
    ]


def own_rows(form: Form) -> list[OwnRow]:
    return [
        OwnRow(n, form.get(f"o{n}-name"), form.get(f"o{n}-to"), form.get(f"o{n}-ports"))
        for n in _numbers(form, "o")
    ]


def _numbers(form: Form, kind: str) -> list[int]:
    found = (_ROW.fullmatch(name) for name in form.values)
    return sorted({int(match[2]) for match in found if match is not None and match[1] == kind})


def chosen_apps(form: Form) -> list[str]:
    return list(dict.fromkeys(form.get("app").splitlines()))


def after_button(form: Form) -> Form:
    """The form after a button that adds or removes a row."""
    do, _, which = form.get("do").partition(":")
    values = {name: text for name, text in form.values.items() if name != "do"}
    if do == "add-time":
        row = next((row for name, _, row in PRESETS if name == which), PRESETS[-1][2])
        number = max(_numbers(form, "w"), default=-1) + 1
        values |= {
            f"w{number}-start": row[0],
            f"w{number}-end": row[1],
            f"w{number}-day": row[2],
            "when": "times",
        }
    elif do == "add-own":
        number = max(_numbers(form, "o"), default=-1) + 1
        values |= {f"o{number}-name": "", f"o{number}-to": "", f"o{number}-ports": ""}
    elif do == "drop":
        values = {name: text for name, text in values.items() if not name.startswith(f"{which}-")}
    return Form(values)


# --- from and to a policy ---


def new_form(key: str) -> Form:
    """A new rule; it starts with bedtime, the most common one."""
    _, _, (start, end, days) = PRESETS[0]
    return Form({"when": "times", "w0-start": start, "w0-end": end, "w0-day": days, "key": key})


def form_of_policy(policy: Policy) -> Form:
    """The editor filled in with a policy. An entry with destinations of its own has a row of its own."""
    values = {
        "when": "times" if policy.time_windows else "always",
        "notes": policy.notes or "",
        "timezone": policy.timezone or "",
        VERSION: str(policy.version),
    }
    for number, window in enumerate(policy.time_windows):
        values |= {f"w{number}-start": window.start_time, f"w{number}-end": window.end_time}
        values[f"w{number}-day"] = "\n".join(window.days)
    plain = []
    own = 0
    for entry in policy.blocked_apps:
        if entry.app_name == EVERYTHING:
            values["everything"] = "on"
        if entry.domains or entry.ip_ranges or entry.ports:
            values |= {
                f"o{own}-name": entry.app_name,
                f"o{own}-to": "\n".join([*entry.domains, *entry.ip_ranges]),
                f"o{own}-ports": ", ".join(f"{port.port}/{port.protocol}" for port in entry.ports),
            }
            own += 1
        elif entry.app_name != EVERYTHING:
            plain.append(entry.app_name)
    return Form({**values, "app": "\n".join(plain)} if plain else values)


def draft_of(form: Form, status: WrittenStatus) -> TypedPolicy:
    """What was typed; FormWrong for what the service would not even be asked."""
    rows = [row for row in time_rows(form) if not row.is_blank] if form.get("when") != "always" else []
    if form.get("when") != "always" and not rows:
        raise FormWrong(form.wrong("when", "Add a time, or choose “Always”."))
    fields = {"timeWindows": "when", "blockedApps": "app"}
    for place, row in enumerate(rows):
        fields[f"timeWindows[{place}]"] = f"w{row.number}-start"
        for part, name in _WINDOW_PARTS.items():
            fields[f"timeWindows[{place}].{part}"] = f"w{row.number}-{name}"
    entries: dict[str, BlockedApp] = {}
    sources: dict[str, int] = {}
    for name in ([EVERYTHING] if form.is_ticked("everything") else []) + chosen_apps(form):
        entries[name.casefold()] = BlockedApp(app_name=name)
    for own in (row for row in own_rows(form) if not row.is_blank):
        entry = _own(form, own)
        if entry.app_name.casefold() in sources:
            words = f"{entry.app_name} is listed twice. Put all its sites into one entry."
            raise FormWrong(form.wrong(f"o{own.number}-name", words))
        entries[entry.app_name.casefold()] = entry
        sources[entry.app_name.casefold()] = own.number
    for place, name in enumerate(entries):
        for part, field in _OWN_PARTS.items():
            where = f"o{sources[name]}-{field}" if name in sources else "app"
            fields[f"blockedApps[{place}].{part}"] = where
    draft = Draft(
        list(entries.values()), [row.raw() for row in rows], status, form.get("timezone").strip() or None,
        form.get("notes"),
    )  # fmt: skip
    return TypedPolicy(draft, fields)


def _own(form: Form, row: OwnRow) -> BlockedApp:
    domains, ranges = _destinations(row)
    name = row.name.strip() or next(iter([*domains, *ranges]), "")
    if not name:
        raise FormWrong(form.wrong(f"o{row.number}-name", "Give it a name so that you recognise it."))
    return BlockedApp(app_name=name, domains=domains, ip_ranges=ranges, ports=list(_ports(form, row)))


def _destinations(row: OwnRow) -> tuple[list[str], list[str]]:
    """The names and the ranges of a row; the service refuses what is not a valid name."""
    domains: list[str] = []
    ranges: list[str] = []
    for text in (part.rstrip(",;") for part in row.to.split()):
        if _is_range(text):
            ranges.append(text)
        elif text:
            domains.append(_site(text))
    return domains, ranges


def _site(text: str) -> str:
    """The host name of a URL: people paste addresses of pages."""
    name = text
    with suppress(ValueError):
        name = urlsplit(text if "://" in text else f"//{text}").hostname or text
    try:
        return check_domain(name)
    except BadRequest:
        return text


def _is_range(text: str) -> bool:
    with suppress(ValueError):
        ip_network(text, strict=False)
        return True
    return re.fullmatch(r"[0-9.:/]+", text) is not None


def _ports(form: Form, row: OwnRow) -> Iterator[Port]:
    for text in re.split(r"[\s,;]+", row.ports.strip()):
        if text:
            found = _PORT.fullmatch(text)
            if found is None:
                words = f"'{text}' isn't a valid port. Write ports such as 443 or 5000/UDP."
                raise FormWrong(form.wrong(f"o{row.number}-ports", words))
            yield Port(port=int(found[1]), protocol="UDP" if (found[2] or "").lower() == "udp" else "TCP")


def refusal(form: Form, mistake: CallerError, fields: Mapping[str, str]) -> Form:
    """The form with the service's refusal beside its field; a part of a field counts as the field."""
    name = mistake.field or ""
    while name and name not in fields and name not in form.values:
        # `blockedApps[0].ports[1].port` is beside the ports, `timeWindows[2].days[0]` beside the days.
        shorter = re.sub(r"(\[\d+\]|\.\w+)$", "", name)
        name = shorter if shorter != name else ""
    if name in fields:
        return form.wrong(fields[name], mistake.message)
    return refused(form, mistake)


# --- what the editor shows ---


@dataclass(frozen=True, slots=True)
class Preview:
    """The week as typed: valid windows, notices about merged ones, and errors."""

    windows: tuple[Window, ...]
    is_always: bool
    notices: tuple[str, ...]
    mistakes: tuple[str, ...]


def preview_of(form: Form) -> Preview:
    if form.get("when") == "always":
        return Preview((), True, (), ())
    found: list[Window] = []
    mistakes = []
    for row in time_rows(form):
        if row.start and row.end and row.days:
            try:
                found.append(windows.parse(row.raw()))
            except BadRequest as mistake:
                mistakes.append(mistake.message)
    merged = windows.merged(found)
    return Preview(merged.windows, False, tuple(n.message for n in merged.notices), tuple(mistakes))


@dataclass(frozen=True, slots=True)
class SiteEffect:
    """Sentences about one of the family's own sites: what is blocked, and what is not."""

    blocked: tuple[str, ...]
    unmet: tuple[str, ...]


def site_effect(row: OwnRow, allowed: Sequence[str]) -> SiteEffect:
    """What a row would block as typed. `allowed` is what the family always allows."""
    domains, ranges = _destinations(row)
    ports: list[Port] = []
    with suppress(FormWrong):  # beside the field, once it is saved
        ports = list(_ports(Form(), row))
    entry = BlockedApp(app_name=row.name.strip() or "-", domains=domains, ip_ranges=ranges, ports=ports)
    left = compiler.unmet(None, [entry], allowed)
    free = {one.value for one in left}
    blocked = [name for name in compiler.domains_of(None, [entry]) if name not in free]
    return SiteEffect(tuple(site_words(name) for name in blocked), tuple(one.sentence for one in left))


@dataclass(frozen=True, slots=True)
class AppGroup:
    """A category of the picker with its apps that are not chosen yet."""

    category: str
    apps: tuple[App, ...]


def best_known(apps: Iterable[App], chosen: Sequence[str] = ()) -> AppGroup:
    """The first shelf: what most parents look for."""
    known = {app.app_name: app for app in apps if app.app_name not in chosen}
    return AppGroup("Most common", tuple(known[name] for name in _BEST_KNOWN if name in known))


def shelves(apps: Iterable[App], find: str, chosen: Sequence[str] = ()) -> list[AppGroup]:
    """Apps by category, the best known first; `find` looks in names, categories and domains."""
    taken, text = {name.casefold() for name in chosen}, find.strip().casefold()
    found: dict[str, list[App]] = {}
    for app in apps:
        searched = " ".join((app.app_name, app.app_category, *app.domains)).casefold()
        if app.app_name.casefold() not in taken and text in searched:
            found.setdefault(app.app_category, []).append(app)
    return [
        AppGroup(
            category, tuple(sorted(each, key=lambda app: (app.popularity or 10_000, app.app_name.casefold())))
        )
        for category, each in sorted(found.items())
    ]
