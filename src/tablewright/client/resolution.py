"""Region, endpoint and credentials from where the AWS tools keep them, found by botocore itself.

Environment, profiles, AWS_ENDPOINT_URL and AWS_ENDPOINT_URL_DYNAMODB, assumed roles, single sign-on, containers
and instances: whatever boto3 would use in the same place. Must hold: botocore is imported here only when asked,
and only here and in boto.py; keys that expire are renewed by botocore, in time.
"""

import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tablewright.client.call import CallFailed
from tablewright.client.signing import Credentials


class NotResolved(CallFailed):
    """What a call needs is set nowhere, or cannot be had."""


@dataclass(frozen=True, slots=True)
class Resolved:
    endpoint: str
    region: str
    credentials: Callable[[], Credentials]
    tls: ssl.SSLContext | None


def resolve(region: str | None, endpoint: str | None, profile: str | None) -> Resolved:
    try:
        from botocore.exceptions import BotoCoreError
        from botocore.session import Session
    except ModuleNotFoundError as error:
        raise NotResolved(
            "finding credentials needs botocore: pip install 'tablewright[aws]', or give endpoint, region and "
            "credentials to HttpCall yourself"
        ) from error
    try:
        session = Session(profile=profile)
        found = session.get_credentials()
        # The client is made for its answer only: which endpoint all settings together amount to.
        client = session.create_client("dynamodb", region_name=region, endpoint_url=endpoint)
        meta = client.meta
        client.close()
    except (BotoCoreError, ValueError) as error:
        raise NotResolved(f"{error} (region=, endpoint= and profile= may be given to resolve)") from error
    if found is None:
        raise NotResolved(
            "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile that "
            "has some (profile=, AWS_PROFILE)"
        )
    tls = _trusting(session.get_config_variable("ca_bundle"))
    return Resolved(meta.endpoint_url, meta.region_name, _renewed(found, BotoCoreError), tls)


def _renewed(found: Any, error_kind: type[Exception]) -> Callable[[], Credentials]:
    """The credentials as they are now; asking botocore each time is what renews them."""
    last: tuple[Any, Credentials] | None = None

    def now() -> Credentials:
        nonlocal last
        try:
            frozen = found.get_frozen_credentials()
        except error_kind as error:
            raise NotResolved(f"the credentials could not be renewed: {error}") from error
        if last is None or last[0] != frozen:
            last = frozen, Credentials(frozen.access_key, frozen.secret_key, frozen.token)
        return last[1]

    return now


def _trusting(bundle: str | None) -> ssl.SSLContext | None:
    if bundle is None:
        return None
    try:
        if os.path.isdir(bundle):
            return ssl.create_default_context(capath=bundle)
        return ssl.create_default_context(cafile=bundle)
    except OSError as error:
        raise NotResolved(f"the certificates in {bundle} (AWS_CA_BUNDLE) cannot be used: {error}") from error
