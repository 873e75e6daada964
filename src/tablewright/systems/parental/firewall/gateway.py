"""How an nftables gateway is set up: the file `gateway.json` beside what the driver keeps.

Who runs the machine writes it: it names commands that are run, so it is nothing that can be sent to the service.
Without it a gateway works, learning names from the machine's DNS server. All of it may be left out:

    {"namespace": "lan",
     "dnsmasq": {"config": "/etc/dnsmasq.d/tablewright.conf", "restart": ["systemctl", "restart", "dnsmasq"]},
     "dnsServer": "127.0.0.1", "logGroup": 5}

Elsewhere: which networks' DNS is guarded, which operators set with the device (model.DnsGuard).
"""

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from tablewright.systems.parental.firewall.dns import Dnsmasq, Names, Resolver, restart_by
from tablewright.systems.parental.firewall.driver import Rejected
from tablewright.systems.parental.firewall.nftables import LOG_GROUP, NftOptions
from tablewright.systems.parental.model import DnsGuard

FILE = "gateway.json"
_OF_THE_DEVICE = frozenset(("safe", "guarded", "refusesEncryptedDns"))
_NOT_HERE = "operators set this with the firewall; remove it"
_Address = Annotated[str, AfterValidator(lambda text: str(ip_address(text)))]


class _Setting(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)


class _DnsmasqSetting(_Setting):
    config: Path
    restart: tuple[str, ...] = Field(min_length=1)


class _Gateway(_Setting):
    namespace: str | None = None
    dnsmasq: _DnsmasqSetting | None = None
    dns_server: _Address | None = None
    log_group: int = Field(default=LOG_GROUP, ge=0, le=65535)


def options_in(directory: Path, namespace: str | None = None, guard: DnsGuard | None = None) -> NftOptions:
    """The options of the gateway whose directory this is; a namespace in the file goes before the one given."""
    file = directory / FILE
    try:
        given = _Gateway.model_validate_json(file.read_bytes()) if file.exists() else _Gateway()
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        words = _NOT_HERE if where in _OF_THE_DEVICE else first["msg"]
        raise Rejected(f"{FILE} of the gateway is wrong at {where}: {words}") from error
    inside = given.namespace or namespace
    return NftOptions(
        directory=directory,
        names=_names(given, inside),
        guard=guard or DnsGuard(),
        namespace=inside,
        log_group=given.log_group,
    )


def _names(given: _Gateway, namespace: str | None) -> Names:
    if given.dnsmasq is None:
        return Resolver(given.dns_server or "", namespace=namespace)
    resolver = Resolver(given.dns_server or "127.0.0.1", namespace=namespace)
    return Dnsmasq(given.dnsmasq.config, restart_by(given.dnsmasq.restart), resolver)
