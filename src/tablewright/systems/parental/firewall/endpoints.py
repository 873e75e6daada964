"""Where a firewall management center is reached: a host and a port, read from what an operator typed. Pure.

Must hold: what is accepted here can stand in a request as it is: no user name, path, whitespace or control character;
and a number that a resolver would read as an address is one that we read as the same address.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from tablewright.systems.parental.firewall.driver import Rejected

HTTPS = 443
_SCHEME = "https://"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_PORT = re.compile(r"[0-9]{1,5}")


class BadEndpoint(Rejected):
    """An address that is not host or host:port."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host, in lower case or as an address without brackets, and a port."""

    host: str
    port: int = HTTPS

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def endpoint(text: str) -> Endpoint:
    """`host`, `host:port`, `[IPv6]:port`, perhaps after https://; BadEndpoint for anything else."""
    rest = text.removeprefix(_SCHEME)
    if rest.startswith("["):
        host, closing, after = rest[1:].partition("]")
        if not closing or (after and not after.startswith(":")) or not _is_ipv6(host):
            raise _bad()
        return Endpoint(ip_address(host).compressed, _port(after[1:] if after else None))
    if _is_ipv6(rest):
        return Endpoint(ip_address(rest).compressed)
    host, mark, port = rest.partition(":")
    if _HOST.fullmatch(host) is None or (_is_number(host) and not _is_ipv4(host)):
        raise _bad()
    return Endpoint(host.lower(), _port(port if mark else None))


def is_local(host: str) -> bool:
    """True for this machine, and for addresses that reach no further than its link."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_loopback or address.is_link_local or address.is_unspecified or address.is_multicast


def _port(text: str | None) -> int:
    if text is None:
        return HTTPS
    if _PORT.fullmatch(text) is None or not 1 <= int(text) <= 65535:
        raise BadEndpoint("a port is a number from 1 to 65535, such as in fmc.example.com:443")
    return int(text)


def _is_ipv6(text: str) -> bool:
    try:
        return isinstance(ip_address(text), IPv6Address) and "%" not in text
    except ValueError:
        return False


def _is_ipv4(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _is_number(host: str) -> bool:
    """True if a resolver would read it as an address: 127.1, 2130706433, 0x7f.1."""
    last = host.rpartition(".")[2].lower()
    return last.isdigit() or last.startswith("0x")


def _bad() -> BadEndpoint:
    return BadEndpoint(
        "this is not an address of an FMC; write host or host:port, such as fmc.example.com:443"
    )
