"""Where traffic goes: domain names, address ranges and ports, in the one form in which they are kept and compared.

A domain is written without `*.`, in lower case and ASCII, and means its subdomains too (PC-D19). Must hold: what
`check_*` returns it takes again and returns unchanged. Elsewhere: which of them others share (shared_networks.py), what
becomes of them (compiler.py).
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

import idna

from tablewright.systems.parental.errors import BadRequest

Network = IPv4Network | IPv6Network
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# Under a country's two letters these are where names are sold, not names: co.uk, com.au, ac.za.
_SOLD_UNDER = frozenset(
    ("ac", "co", "com", "edu", "go", "gob", "gov", "mil", "ne", "net", "nom", "or", "org")
)


def check_domain(text: str, field: str = "domain") -> str:
    """A name as it is kept; INVALID_DOMAIN says what is wrong with it."""
    name = text.strip().removeprefix("*.").removesuffix(".").lower()
    if "/" in name or ":" in name or "@" in name:
        raise _bad_domain(text, "write only the name of the site, such as example.com", field)
    if _is_address(name):
        raise _bad_domain(text, "this is an address; it belongs to ipRanges", field)
    name = _ascii(text, name, field)
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _bad_domain(text, "write a name such as example.com; it includes its subdomains", field)
    if len(labels) == 1 or (len(labels) == 2 and len(labels[1]) == 2 and labels[0] in _SOLD_UNDER):
        raise _bad_domain(text, "this would be every site under it; name the site", field)
    return name


def check_cidr(text: str, field: str = "ipRange") -> str:
    """A range as it is kept; INVALID_CIDR says what is wrong with it."""
    network = _network(text, field)
    try:
        ip_network(text.strip())
    except ValueError:
        words = f"'{text}' does not begin where a range of that width begins. Did you mean {network}?"
        raise BadRequest("INVALID_CIDR", words, field) from None
    if network.is_loopback or network.is_multicast or network.is_link_local or network.is_unspecified:
        raise BadRequest("INVALID_CIDR", f"'{text}' is no place on the network where an app could be.", field)
    return str(network)


def check_port(port: int, field: str = "port") -> int:
    """A port as it is; INVALID_PORT if there is none of that number."""
    if not 1 <= port <= 65535:
        raise BadRequest("INVALID_PORT", f"{port} is no port. Ports are 1 to 65535.", field)
    return port


def is_under(domain: str, other: str) -> bool:
    """Whether a name is another, or a subdomain of it."""
    return domain == other or domain.endswith(f".{other}")


def widest(domains: Iterable[str]) -> tuple[str, ...]:
    """The same names, in order, without those that another includes already."""
    found = set(domains)
    return tuple(sorted(name for name in found if not any(above in found for above in _above(name))))


def _above(name: str) -> list[str]:
    labels = name.split(".")
    return [".".join(labels[n:]) for n in range(1, len(labels))]


def _network(text: str, field: str) -> Network:
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:
        words = f"'{text}' is no address range. Write one such as 203.0.113.0/24 or 2001:db8::/48."
        raise BadRequest("INVALID_CIDR", words, field) from None


def _ascii(text: str, name: str, field: str) -> str:
    if name.isascii() and "xn--" not in name:
        return name
    try:
        return idna.encode(name, uts46=True).decode("ascii")
    except idna.IDNAError as error:
        raise _bad_domain(text, f"no such name can be registered ({error})", field) from None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _bad_domain(text: str, words: str, field: str) -> BadRequest:
    return BadRequest("INVALID_DOMAIN", f"'{text}' is no domain: {words}.", field)
