"""Where traffic goes: domain names, address ranges and ports, in the one form in which they are kept and compared.

A domain is written without `*.` and `www.`, in lower case and ASCII, and means its subdomains too (PC-D19). A name
below a site (`shop.example.com`) stays as typed, because blocking all of `example.com` would block more than the parent
asked for; `site_of` returns the site, so that the page can mention it. Networks and names that many services share are
listed here too: blocking them would also block services that no rule names (PC-D10).
Must hold: what `check_*` returns it takes again and returns unchanged. Elsewhere: what becomes of them
(firewall/compiler.py).
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
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
    """Where names are sold. Those of companies that let others have sites below theirs are in SHARED_NAMES."""
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


# --- shared by many services ---
#
# Our own curation, of what the operators publish about their networks (their address lists, and the registries of the
# regions). It need not be complete to be useful: ranges that are wide are not enforced either, and an operator of ours
# may decide otherwise for an app.

# /20 is sixteen of the smallest networks that travel on their own in IPv4 (/24); in IPv6 (/48) that makes a /44.
NARROW = {4: 20, 6: 44}
SHARED: Mapping[str, tuple[str, ...]] = {
    "Cloudflare, which carries many sites": (
        "103.21.244.0/22", "103.22.200.0/22", "103.31.4.0/22", "104.16.0.0/13", "104.24.0.0/14", "108.162.192.0/18",
        "131.0.72.0/22", "141.101.64.0/18", "162.158.0.0/15", "172.64.0.0/13", "173.245.48.0/20", "188.114.96.0/20",
        "190.93.240.0/20", "197.234.240.0/22", "198.41.128.0/17", "2400:cb00::/32", "2405:8100::/32",
        "2405:b500::/32", "2606:4700::/32", "2803:f800::/32", "2a06:98c0::/29", "2c0f:f248::/32",
    ),
    "Akamai, which carries many sites": (
        "2.16.0.0/13", "23.0.0.0/12", "23.32.0.0/11", "23.64.0.0/14", "23.72.0.0/13", "23.192.0.0/11",
        "69.192.0.0/16", "72.246.0.0/15", "88.221.0.0/16", "92.122.0.0/15", "95.100.0.0/15", "96.6.0.0/15",
        "96.16.0.0/15", "104.64.0.0/10", "118.214.0.0/16", "173.222.0.0/15", "184.24.0.0/13", "184.50.0.0/15",
        "184.84.0.0/14", "2600:1400::/24", "2a02:26f0::/29",
    ),
    "Fastly, which carries many sites": (
        "23.235.32.0/20", "43.249.72.0/22", "103.244.50.0/24", "103.245.222.0/23", "103.245.224.0/24",
        "104.156.80.0/20", "140.248.64.0/18", "140.248.128.0/17", "146.75.0.0/17", "151.101.0.0/16",
        "157.52.64.0/18", "167.82.0.0/17", "172.111.64.0/18", "185.31.16.0/22", "199.27.72.0/21", "199.232.0.0/16",
        "2a04:4e40::/32", "2a04:4e42::/32",
    ),
    "Amazon CloudFront, which carries many sites": (
        "13.32.0.0/15", "13.224.0.0/14", "13.249.0.0/16", "18.64.0.0/14", "18.154.0.0/15", "18.160.0.0/15",
        "18.164.0.0/15", "18.172.0.0/15", "18.238.0.0/15", "18.244.0.0/15", "52.84.0.0/15", "52.222.128.0/17",
        "54.182.0.0/16", "54.192.0.0/16", "54.230.0.0/16", "54.239.128.0/18", "65.8.0.0/15", "99.84.0.0/16",
        "99.86.0.0/16", "108.138.0.0/15", "108.156.0.0/14", "143.204.0.0/16", "204.246.160.0/19",
        "205.251.192.0/19", "216.137.32.0/19", "2600:9000::/28",
    ),
    "all of Google, including mail and school accounts": (
        "64.233.160.0/19", "66.102.0.0/20", "66.249.64.0/19", "72.14.192.0/18", "74.125.0.0/16", "108.177.0.0/17",
        "142.250.0.0/15", "172.217.0.0/16", "172.253.0.0/16", "173.194.0.0/16", "192.178.0.0/15",
        "209.85.128.0/17", "216.58.192.0/19", "216.239.32.0/19", "2001:4860::/32", "2404:6800::/32",
        "2607:f8b0::/32", "2800:3f0::/32", "2a00:1450::/32", "2c0f:fb50::/32",
    ),
    "Google Cloud, which anyone can rent": (
        "34.64.0.0/10", "34.128.0.0/10", "35.184.0.0/13", "35.192.0.0/12", "35.208.0.0/12", "35.224.0.0/12",
        "35.240.0.0/13", "104.154.0.0/15", "104.196.0.0/14", "130.211.0.0/16", "2600:1900::/28",
    ),
    "Meta, which uses it for all its apps": (
        "31.13.24.0/21", "31.13.64.0/18", "66.220.144.0/20", "69.63.176.0/20", "69.171.224.0/19", "74.119.76.0/22",
        "102.132.96.0/20", "103.4.96.0/22", "129.134.0.0/16", "157.240.0.0/16", "163.70.128.0/17",
        "173.252.64.0/18", "179.60.192.0/22", "185.60.216.0/22", "204.15.20.0/22", "2a03:2880::/32",
    ),
    "Microsoft, including updates and school accounts": (
        "13.64.0.0/11", "13.96.0.0/13", "13.104.0.0/14", "20.33.0.0/16", "20.34.0.0/15", "20.36.0.0/14",
        "20.40.0.0/13", "20.48.0.0/12", "20.64.0.0/10", "20.128.0.0/16", "20.180.0.0/14", "20.184.0.0/13",
        "20.192.0.0/10", "40.64.0.0/10", "52.96.0.0/12", "52.112.0.0/14", "131.253.0.0/16", "150.171.0.0/16",
        "204.79.195.0/24", "204.79.196.0/23", "2603:1000::/24", "2620:1ec::/36", "2a01:110::/31",
    ),
    "Apple, including updates and location": ("17.0.0.0/8", "2403:300::/32", "2620:149::/32", "2a01:b740::/32"),
}  # fmt: skip

# Names under which very many different sites or apps are served: blocked whole, they take others with them. A name
# below one of them (a customer's own) is fine.
SHARED_NAMES: Mapping[str, str] = {
    **dict.fromkeys(
        ("akadns.net", "akamai.net", "akamaiedge.net", "akamaihd.net", "akamaized.net", "edgekey.net",
         "edgesuite.net"), "Akamai carries many sites",
    ),
    **dict.fromkeys(
        ("amazonaws.com", "awsglobalaccelerator.com", "cloudfront.net", "elasticbeanstalk.com"),
        "anyone can rent servers there from Amazon",
    ),
    **dict.fromkeys(("cloudflare.com", "cloudflare.net", "pages.dev", "workers.dev"), "Cloudflare carries many sites"),
    **dict.fromkeys(("fastly.net", "fastlylb.net"), "Fastly carries many sites"),
    **dict.fromkeys(
        ("azure.com", "azureedge.net", "azurefd.net", "azurewebsites.net", "cloudapp.net", "trafficmanager.net",
         "windows.net"), "anyone can rent servers there from Microsoft",
    ),
    **dict.fromkeys(
        ("appspot.com", "cloudfunctions.net", "firebaseapp.com", "firebaseio.com", "googleapis.com",
         "googleusercontent.com", "gstatic.com", "run.app", "web.app"),
        "many apps and school tools use it",
    ),
    **dict.fromkeys(("github.io", "herokuapp.com", "netlify.app", "vercel.app"), "anyone can have a site there"),
}  # fmt: skip
_NETWORKS = tuple((ip_network(cidr), owner) for owner, cidrs in SHARED.items() for cidr in cidrs)


@lru_cache(maxsize=4096)
def not_enforced(cidr: str) -> str | None:
    """Why a range is not blocked unless an operator says so; None if it may be."""
    try:
        network = ip_network(cidr, strict=False)
    except ValueError:
        return None  # not ours to judge: check_cidr says what is wrong with it
    for shared, owner in _NETWORKS:
        if shared.version == network.version and shared.overlaps(network):
            return f"shared: the network of {owner}"
    if network.prefixlen < NARROW[network.version]:
        words = f"wider than /{NARROW[network.version]}"
        return f"{words}: {network.num_addresses} addresses, which other services use too"
    return None


def shared_name(domain: str) -> str | None:
    """Why a name is not blocked as a whole; None if it may be."""
    return SHARED_NAMES.get(domain)
