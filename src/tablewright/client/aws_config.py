"""Region, endpoint and credentials from the AWS configuration, found by botocore.

Environment, profiles, AWS_ENDPOINT_URL and AWS_ENDPOINT_URL_DYNAMODB, assumed roles, single sign-on, containers
and instances: what boto3 would use in the same environment. Must hold: botocore is imported only when `resolve` is
called, and only here and in boto.py; keys that expire are renewed by botocore, in time.
"""

import os
import ssl
from collections.abc import Callable
from typing import Any

from tablewright.client.call import CallFailed
from tablewright.client.signing import Credentials


class NotResolved(CallFailed):
    """Region, endpoint or credentials are not configured, or cannot be obtained."""


def resolve(
    region: str | None, endpoint: str | None, profile: str | None
) -> tuple[str, str, Callable[[], Credentials], ssl.SSLContext | None]:
    """The endpoint, the region, a function that returns the current credentials, and the certificates to trust."""
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
        # The client is created only to read the endpoint that results from all settings.
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
    tls = _tls_context(session.get_config_variable("ca_bundle"))
    return meta.endpoint_url, meta.region_name, _refreshing(found, BotoCoreError), tls


def service_client(
    service: str,
    region: str,
    endpoint: str | None,
    profile: str | None,
    credentials: Credentials | None = None,
) -> Any:
    """A client of another service, such as application-autoscaling; `credentials` where none are configured."""
    try:
        from botocore.exceptions import BotoCoreError
        from botocore.session import Session
    except ModuleNotFoundError as error:
        raise NotResolved(f"{service} needs botocore: pip install 'tablewright[aws]'") from error
    keys = (
        {}
        if credentials is None
        else {
            "aws_access_key_id": credentials.key_id,
            "aws_secret_access_key": credentials.secret,
        }
    )
    try:
        return Session(profile=profile).create_client(
            service, region_name=region, endpoint_url=endpoint, **keys
        )
    except (BotoCoreError, ValueError) as error:
        raise NotResolved(f"{service}: {error}") from error


def _refreshing(found: Any, error_type: type[Exception]) -> Callable[[], Credentials]:
    """A function that returns the current credentials; botocore renews them when it is called."""
    last: tuple[Any, Credentials] | None = None

    def current() -> Credentials:
        nonlocal last
        try:
            frozen = found.get_frozen_credentials()
        except error_type as error:
            raise NotResolved(f"the credentials could not be renewed: {error}") from error
        if last is None or last[0] != frozen:
            last = frozen, Credentials(frozen.access_key, frozen.secret_key, frozen.token)
        return last[1]

    return current


def _tls_context(bundle: str | None) -> ssl.SSLContext | None:
    if bundle is None:
        return None
    try:
        if os.path.isdir(bundle):
            return ssl.create_default_context(capath=bundle)
        return ssl.create_default_context(cafile=bundle)
    except OSError as error:
        raise NotResolved(f"the certificates in {bundle} (AWS_CA_BUNDLE) cannot be used: {error}") from error
