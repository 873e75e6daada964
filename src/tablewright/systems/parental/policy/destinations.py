"""Where traffic goes: domain names, address ranges and ports, in the one form in which they are kept and compared.

A domain is written without `*.` and `www.`, in lower case and ASCII, and means its subdomains too (PC-D19). A name
below a site (`shop.example.com`) stays as typed, because blocking all of `example.com` would block more than the parent
asked for; `site_of` returns the site, so that the page can mention it. Must hold: what `check_*` returns it takes again
and returns unchanged. Elsewhere: which of them others share (shared_networks.py), what becomes of them
(firewall/compiler.py).
"""

import re
from collections.abc import Iterable
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

import idna
from publicsuffixlist import PublicSuffixList

from tablewright.edge.errors import BadRequest

Network = IPv4Network | IPv6Network
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")


def check_domain(text: str, field: str = "domain") -> str:
    """A name as it is kept; INVALID_DOMAIN says what is wrong with it."""
    name = text.strip().removeprefix("*.").removesuffix(".").lower()
    if "/" in name or ":" in name or "@" in name:
        raise _bad_domain(text, "write only the name of the site, such as example.com", field)
    if _is_address(name):
        raise _bad_domain(text, "this is an IP address; write it as an address range (ipRanges)", field)
    name = _ascii(text, name, field)
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise _bad_domain(text, "write a name such as example.com; subdomains are included", field)
    site = site_of(name)
    if site is None:
        raise _bad_domain(text, "this would block every site under it; write the name of one site", field)
    # A parent who types the page they saw means the site: it is served without www. as well.
    while name != site and name.startswith("www."):
        name = name.removeprefix("www.")
    return name


def site_of(name: str) -> str | None:
    """The registered name that a name is, or is below; None for a public suffix (co.uk)."""
    return _sold_under().privatesuffix(name)


def check_cidr(text: str, field: str = "ipRange") -> str:
    """A range as it is kept; INVALID_CIDR says what is wrong with it."""
    network = _network(text, field)
    try:
        ip_network(text.strip())
    except ValueError:
        words = f"'{text}' isn't the start of an address range. Did you mean {network}?"
        raise BadRequest("INVALID_CIDR", words, field) from None
    if network.is_loopback or network.is_multicast or network.is_link_local or network.is_unspecified:
        raise BadRequest("INVALID_CIDR", f"'{text}' isn't an address that an app can have.", field)
    return str(network)


def check_port(port: int, field: str = "port") -> int:
    """A port as it is; INVALID_PORT if there is none of that number."""
    if not 1 <= port <= 65535:
        raise BadRequest("INVALID_PORT", f"{port} isn't a valid port. Ports are 1 to 65535.", field)
    return port


def is_under(domain: str, other: str) -> bool:
    """Whether a name is another, or a subdomain of it."""
    return domain == other or domain.endswith(f".{other}")


def widest(domains: Iterable[str]) -> tuple[str, ...]:
    """The same names, in order, without those that another includes already."""
    found = set(domains)
    return tuple(sorted(name for name in found if not any(above in found for above in _above(name))))


@cache
def _sold_under() -> PublicSuffixList:
    """Where names are sold. Those of companies that let others have sites below theirs are in shared_networks.py."""
    return PublicSuffixList(only_icann=True)


def _above(name: str) -> list[str]:
    labels = name.split(".")
    return [".".join(labels[n:]) for n in range(1, len(labels))]


def _network(text: str, field: str) -> Network:
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:
        words = f"'{text}' isn't a valid address range. Write one such as 203.0.113.0/24 or 2001:db8::/48."
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
    return BadRequest("INVALID_DOMAIN", f"'{text}' isn't a valid site: {words}.", field)
