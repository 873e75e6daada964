"""The network that an address belongs to, which counts as one caller: an IPv4 address, or an IPv6 /64."""

from ipaddress import IPv6Address, ip_address


def network_of_host(host: str) -> str:
    """The address itself; of IPv6 the /64. A text that is not an address is returned as it is."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(IPv6Address(int(address) >> 64 << 64))
    return str(address)
