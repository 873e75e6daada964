"""Signature Version 4 as the service checks it: which key a request is signed with, and whether the signature is right.

`any_signature` requires only that a signature is present and complete, for a server that no other machine can reach;
`verified_by` verifies it with known keys. Both accept the header and the query-string (presigned) form.
Must hold: the payload that was signed is the payload that arrived; secrets are compared in constant time
and never appear in a message. The messages and their order are the service's; a refusal is returned, not raised.
Elsewhere: where the keys come from (credentials.py), the signature itself (sigv4.py).
"""

import hmac
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

from tablewright.engine import ServiceError
from tablewright.sigv4 import (
    ALGORITHM,
    amz_date,
    canonical_headers,
    canonical_path,
    canonical_query,
    canonical_request,
    credential_scope,
    signing_key,
    string_to_sign,
)
from tablewright.wire.credentials import AccessKey

Headers = Mapping[bytes, bytes]
# (method, url, headers, body) -> the refusal of the signature, or None
Authority = Callable[[bytes, bytes, Headers, bytes | bytearray], ServiceError | None]
_SERVICE = "dynamodb"
_MINUTES = 15
_HTTP_FORMAT = "%a, %d %b %Y %H:%M:%S GMT"
_BAD_DATE = "Date must be in ISO-8601 'basic format'. Got '{}'. See http://en.wikipedia.org/wiki/ISO_8601"
_UNKNOWN_KEY = "The security token included in the request is invalid."
_MISMATCH = (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
    "Access Key and signing method. Consult the service documentation for details."
)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a request says about its own signature, before it is verified."""

    algorithm: str
    credential: str
    signed_headers: str
    signature: str
    date: str
    token: str | None
    minutes: float
    in_query: bool


def any_signature(
    method: bytes, url: bytes, headers: Headers, body: bytes | bytearray
) -> ServiceError | None:
    """None if the request has a complete signature; the signature is not verified."""
    # From one request of a client to its next only the 64 digits at the end differ: a header that was complete
    # once is not parsed again, which is most of what this check costs.
    form = headers.get(b"authorization", b"")[:-64]
    if form in _complete_forms and b"x-amz-date" in headers and b"?" not in url:
        return None
    claimed = claim(url, headers)
    if isinstance(claimed, ServiceError):
        return claimed
    if form.endswith(b"Signature="):
        if len(_complete_forms) >= 1000:
            _complete_forms.clear()
        _complete_forms.add(form)
    return None


_complete_forms: set[bytes] = set()


def scoped_to(regions: Collection[str], authority: Authority) -> Authority:
    """An authority for a server of several regions: the signature's scope must name one of them."""

    def check(method: bytes, url: bytes, headers: Headers, body: bytes | bytearray) -> ServiceError | None:
        refusal = authority(method, url, headers, body)
        region = region_of(url, headers)
        if refusal is None and region not in regions:
            why = f"Credential should be scoped to a valid region, not '{region}'. "
            return ServiceError("InvalidSignatureException", why)
        return refusal

    return check


def region_of(url: bytes, headers: Headers) -> str:
    """The region in the scope of a request's credential; empty if it has none."""
    claimed = claim(url, headers)
    scope = [] if isinstance(claimed, ServiceError) else claimed.credential.split("/")
    return scope[2] if len(scope) > 2 else ""


def verified_by(
    keys: Mapping[str, AccessKey], region: str | Collection[str], now: Callable[[], datetime]
) -> Authority:
    """An authority that accepts requests signed with one of these keys, in the last 15 minutes, for these regions."""
    regions = frozenset([region] if isinstance(region, str) else region)

    def verify(method: bytes, url: bytes, headers: Headers, body: bytes | bytearray) -> ServiceError | None:
        claimed = claim(url, headers)
        if isinstance(claimed, ServiceError):
            return claimed
        signed_at = _signing_time(claimed.date)
        if signed_at is None:
            return ServiceError("IncompleteSignatureException", _BAD_DATE.format(claimed.date))
        stamp = amz_date(signed_at)
        refusal = (
            _out_of_time(claimed, signed_at, now())
            or _unsigned_headers(claimed, headers)
            or _badly_formed(claimed, stamp, regions)
        )
        if refusal is not None:
            return refusal
        key = keys.get(claimed.credential.split("/")[0])
        if key is None:
            return ServiceError("UnrecognizedClientException", _UNKNOWN_KEY)
        request = _canonical_request(method, url, headers, body, claimed)
        expected = _signature(key.secret, claimed.credential, stamp, request)
        if not hmac.compare_digest(expected.encode(), claimed.signature.encode()):
            return ServiceError("InvalidSignatureException", _MISMATCH)
        if not hmac.compare_digest((key.token or "").encode(), (claimed.token or "").encode()):
            return ServiceError("UnrecognizedClientException", _UNKNOWN_KEY)
        return None

    return verify


def claim(url: bytes, headers: Headers) -> Claim | ServiceError:
    """The signature's parts from header or query, or the refusal that names the missing ones."""
    header = headers.get(b"authorization", b"").decode("latin-1")
    query = dict(_query(url))
    if "X-Amz-Algorithm" in query:
        if header:
            both = "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."
            return ServiceError("InvalidSignatureException", both)
        return _claim_of_query(query)
    if not header.strip().startswith("AWS4-"):
        return ServiceError("MissingAuthenticationTokenException", "Request is missing Authentication Token")
    return _claim_of_header(header, headers)


def _claim_of_header(header: str, headers: Headers) -> Claim | ServiceError:
    algorithm, *parts = re.split(r"[,\s]+", header.strip())
    parameters: dict[str, str] = {}
    for part in filter(None, parts):
        name, equals, value = part.partition("=")
        if not equals:
            wrong = f"'{name}' not a valid key=value pair (missing equal-sign) in "
            wrong += f"Authorization header: '{header}'."
            return ServiceError("IncompleteSignatureException", wrong)
        parameters[name] = value
    missing = "".join(
        f"Authorization header requires '{name}' parameter. "
        for name in ("Credential", "Signature", "SignedHeaders")
        if not parameters.get(name)
    )
    date = headers.get(b"x-amz-date") or headers.get(b"date")
    if not date:
        missing += "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
    if missing or not date:
        return ServiceError("IncompleteSignatureException", f"{missing}Authorization={header}")
    token = headers.get(b"x-amz-security-token")
    return Claim(
        algorithm,
        parameters["Credential"],
        parameters["SignedHeaders"],
        parameters["Signature"],
        date.decode("latin-1"),
        None if token is None else token.decode("latin-1"),
        _MINUTES,
        in_query=False,
    )


def _claim_of_query(query: Mapping[str, str]) -> Claim | ServiceError:
    names = ("X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date")
    missing = "".join(
        f"AWS query-string parameters must include '{name}'. " for name in names if not query.get(name)
    )
    if missing:
        why = f"{missing}Re-examine the query-string parameters."
        return ServiceError("IncompleteSignatureException", why)
    seconds = query.get("X-Amz-Expires", "")
    return Claim(
        query["X-Amz-Algorithm"],
        query["X-Amz-Credential"],
        query["X-Amz-SignedHeaders"],
        query["X-Amz-Signature"],
        query["X-Amz-Date"],
        query.get("X-Amz-Security-Token"),
        # A signature is valid for a week at most.
        min(int(seconds), 604800) / 60 if re.fullmatch(r"[0-9]{1,9}", seconds) else _MINUTES,
        in_query=True,
    )


def _signing_time(text: str) -> datetime | None:
    try:
        if re.fullmatch(r"[0-9]{8}T[0-9]{6}Z", text):
            return datetime.fromisoformat(text)
        return datetime.strptime(text, _HTTP_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def _out_of_time(claimed: Claim, signed_at: datetime, now: datetime) -> ServiceError | None:
    oldest, newest = now - timedelta(minutes=claimed.minutes), now + timedelta(minutes=_MINUTES)
    if oldest <= signed_at <= newest:
        return None
    signed, today = amz_date(signed_at), amz_date(now)
    if signed_at < oldest:
        span = f"{today} - {claimed.minutes:g} min."
        why = f"Signature expired: {signed} is now earlier than {amz_date(oldest)} ({span})"
    else:
        span = f"{today} + {_MINUTES} min."
        why = f"Signature not yet current: {signed} is still later than {amz_date(newest)} ({span})"
    return ServiceError("InvalidSignatureException", why)


def _unsigned_headers(claimed: Claim, headers: Headers) -> ServiceError | None:
    """Host and every x-amz- header must be signed; without x-amz-target the operation could be changed."""
    signed = frozenset(claimed.signed_headers.lower().encode("latin-1", "replace").split(b";"))
    missing = [name for name in headers if name.startswith(b"x-amz-") and name not in signed]
    if b"host" in signed and not missing:
        return None
    name = "'Host' or ':authority'" if b"host" not in signed else f"'{missing[0].decode('latin-1')}'"
    why = f"{name} must be a 'SignedHeader' in the AWS Authorization."
    return ServiceError("InvalidSignatureException", why)


def _badly_formed(claimed: Claim, stamp: str, regions: Collection[str]) -> ServiceError | None:
    if claimed.algorithm != ALGORITHM:
        why = f"Unsupported AWS 'algorithm': '{claimed.algorithm}' (only {ALGORITHM} for now). "
        return ServiceError("IncompleteSignatureException", why)
    scope = claimed.credential.rstrip("/").split("/")
    if len(scope) != 5:
        why = (
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, "
            f"got '{claimed.credential}'"
        )
        return ServiceError("IncompleteSignatureException", why)
    why = _out_of_scope(scope, stamp, regions)
    return ServiceError("InvalidSignatureException", why) if why else None


def _out_of_scope(scope: list[str], stamp: str, regions: Collection[str]) -> str:
    _, day, for_region, service, terminator = scope
    why = ""
    if for_region not in regions:
        why += f"Credential should be scoped to a valid region, not '{for_region}'. "
    if service != _SERVICE:
        why += f"Credential should be scoped to correct service: '{_SERVICE}'. "
    if terminator != "aws4_request":
        why += f"Credential should be scoped with a valid terminator: 'aws4_request', not '{terminator}'. "
    if day != stamp[:8]:
        why += (
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
            f"'{day}' != '{stamp[:8]}', from '{stamp}'."
        )
    return why


def _canonical_request(
    method: bytes, url: bytes, headers: Headers, body: bytes | bytearray, claimed: Claim
) -> bytes:
    pairs = [pair for pair in _query(url) if not (claimed.in_query and pair[0] == "X-Amz-Signature")]
    # A name that no header can have stands for a header that was not sent.
    names = [name.encode("latin-1", "replace") for name in claimed.signed_headers.lower().split(";")]
    lines = canonical_headers((name, headers.get(name, b"")) for name in names)
    path, query = canonical_path(path_of(url)), canonical_query(pairs)
    return canonical_request(method, path, query, lines, b";".join(names), body)


def _signature(secret: str, credential: str, stamp: str, request: bytes) -> str:
    _, day, region, service, _ = credential.rstrip("/").split("/")
    scope = credential_scope(day, region, service)
    return signing_key(secret, day, region, service).sign(string_to_sign(stamp, scope, request))


def path_of(url: bytes) -> bytes:
    """The path of a request, without its query."""
    path = url.partition(b"?")[0]
    if not path.startswith(b"/"):  # the absolute form, as sent to a proxy: scheme, host, then the path
        path = b"/" + b"".join(path.split(b"/", 3)[3:])
    return path


def _query(url: bytes) -> list[tuple[str, str]]:
    text = url.partition(b"?")[2].decode("latin-1")
    return parse_qsl(text.replace("+", "%2B"), keep_blank_values=True) if text else []
