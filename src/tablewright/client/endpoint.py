"""The address of a service, parsed once: `http://127.0.0.1:8000`, `https://dynamodb.eu-west-1.amazonaws.com`.

Must hold: the authority is spelled as it goes into the Host header, since it is signed.
"""

import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}
# Amazon's names for DynamoDB: plain or FIPS, of one account, and those that also speak IPv6 (api.).
_AMAZON = re.compile(
    r"(?:(?P<name>dynamodb(?:-fips)?)|[0-9]{12}\.ddb)\.(?P<region>[a-z0-9-]+)\."
    r"(?P<suffix>amazonaws\.com(?:\.cn)?|api\.aws|api\.amazonwebservices\.com\.cn)",
)


class EndpointUnusable(ValueError):
    """A text that is not the address of a service."""

    def __init__(self, text: str, why: str) -> None:
        self.text, self.why = text, why
        super().__init__(f"the endpoint {text!r} cannot be used: {why}; write it as http://localhost:8000")


@dataclass(frozen=True, slots=True)
class Endpoint:
    host: str
    port: int
    authority: str
    path: str
    is_tls: bool


def endpoint_of(text: str) -> Endpoint:
    """Parse an address; raises EndpointUnusable."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise EndpointUnusable(text, str(error)) from None
    if not text.isprintable():  # urlsplit drops line ends silently
        raise EndpointUnusable(text, "it contains a line end or another control character")
    why = _flaw(parts.scheme, parts.netloc, parts.hostname, parts.path)
    if why or parts.query or parts.fragment or parts.hostname is None:
        raise EndpointUnusable(text, why or "it has a query or a fragment")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = _PORTS[parts.scheme]
    port = default if port is None else port
    authority = host if port == default else f"{host}:{port}"
    return Endpoint(parts.hostname, port, authority, parts.path.rstrip("/") + "/", parts.scheme == "https")


def streams_endpoint(endpoint: Endpoint) -> Endpoint:
    """Where the stream verbs go: on Amazon to a host of their own, everywhere else to the same one."""
    found = _AMAZON.fullmatch(endpoint.host)
    if found is None:
        return endpoint
    between = "-" if found["suffix"].startswith("api.") else "."
    host = f"streams{between}{found['name'] or 'dynamodb'}.{found['region']}.{found['suffix']}"
    return replace(endpoint, host=host, authority=endpoint.authority.replace(endpoint.host, host))


def search_endpoint(endpoint: Endpoint) -> Endpoint:
    """Where SearchVectors goes: on Amazon to a host of its own, everywhere else to the same one."""
    found = _AMAZON.fullmatch(endpoint.host)
    if found is None:
        return endpoint
    host = f"search-{found['name'] or 'dynamodb'}.{found['region']}.{found['suffix']}"
    return replace(endpoint, host=host, authority=endpoint.authority.replace(endpoint.host, host))


def _flaw(scheme: str, netloc: str, host: str | None, path: str) -> str:
    if scheme not in _PORTS:
        return "it begins with neither http:// nor https://"
    if not host or not re.fullmatch(r"[A-Za-z0-9._:%-]+", host):
        return "it has no host"
    if "@" in netloc:
        return "it contains a user name; credentials are given separately"
    # Other characters would be escaped once when sent and twice when signed.
    if not re.fullmatch(r"[A-Za-z0-9/_.~-]*", path) or re.search(r"//|/\.\.?(/|$)", path):
        return "its path may only have letters, digits and _ . ~ - between slashes"
    return ""
