"""The verifier against identity providers that others wrote: an OpenID provider, and moto's Cognito."""

from __future__ import annotations

import base64
import hashlib
import warnings
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import boto3
import httpx
import jwt
import pytest

from tablewright.edge import Verifier
from tablewright.edge.problems import Problem
from tablewright.testing import Clock
from tablewright.world import real_world


def sign_in(provider: str, subject: str) -> dict[str, Any]:
    """The code flow with PKCE, as a browser and its client go through it."""
    secret = "a-verifier-of-at-least-forty-three-characters-0123456789"
    challenge = base64.urlsafe_b64encode(hashlib.sha256(secret.encode()).digest()).rstrip(b"=").decode()
    asked = {
        "client_id": "web",
        "response_type": "code",
        "redirect_uri": "http://127.0.0.1:1/back",
        "scope": "openid email profile",
        "state": "s",
        "nonce": "n",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    with httpx.Client(trust_env=False) as browser:
        pages = browser.get(f"{provider}/.well-known/openid-configuration").json()
        consent = {"sub": subject, "action": "authorize"}
        back = browser.post(pages["authorization_endpoint"], params=asked, data=consent).headers["Location"]
        exchange = {
            "grant_type": "authorization_code",
            "code": httpx.URL(back).params["code"],
            "redirect_uri": asked["redirect_uri"],
            "client_id": "web",
            "client_secret": "x",
            "code_verifier": secret,
        }
        tokens: dict[str, Any] = browser.post(pages["token_endpoint"], data=exchange).json()
    return tokens


@pytest.fixture
def provider() -> Iterator[str]:
    with warnings.catch_warnings(record=True):  # its own libraries warn of theirs when they are loaded
        mock = pytest.importorskip("oidc_provider_mock")
    with mock.run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


@pytest.mark.filterwarnings("ignore:get_jwt_config:DeprecationWarning")
def test_a_login_at_an_openid_provider_is_believed(provider: str) -> None:
    token = sign_in(provider, "sam")["id_token"]
    assert Verifier.of_oidc(provider, ["web"], real_world()).verify(token).subject == "sam"
    with pytest.raises(Problem, match="TOKEN_FOREIGN"):
        Verifier.of_oidc(provider, ["other"], real_world()).verify(token)
    later = Clock(real_world().now() + timedelta(days=2)).world()
    with pytest.raises(Problem, match="TOKEN_EXPIRED"):
        Verifier.of_oidc(provider, ["web"], later).verify(token)


@pytest.fixture
def cognito() -> Iterator[str]:
    moto_server = pytest.importorskip("moto.server", reason="moto is in the extra `compare`")
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def test_a_login_at_cognito_is_believed(cognito: str) -> None:
    idp = boto3.client(
        "cognito-idp",
        endpoint_url=cognito,
        region_name="eu-central-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
    )
    pool = idp.create_user_pool(PoolName="p")["UserPool"]["Id"]
    flows = ["ALLOW_ADMIN_USER_PASSWORD_AUTH"]
    made = idp.create_user_pool_client(UserPoolId=pool, ClientName="c", ExplicitAuthFlows=flows)
    client_id = made["UserPoolClient"]["ClientId"]
    idp.admin_create_user(UserPoolId=pool, Username="sam")
    idp.admin_set_user_password(UserPoolId=pool, Username="sam", Password="Secret-pass-1", Permanent=True)
    idp.create_group(UserPoolId=pool, GroupName="staff")
    idp.admin_add_user_to_group(UserPoolId=pool, Username="sam", GroupName="staff")
    login = idp.admin_initiate_auth(
        UserPoolId=pool,
        ClientId=client_id,
        AuthFlow="ADMIN_USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": "sam", "PASSWORD": "Secret-pass-1"},
    )["AuthenticationResult"]
    idp.close()
    address = f"{cognito}/{pool}/.well-known/jwks.json"
    verifier = Verifier.of_cognito("eu-central-1", pool, [client_id], real_world(), jwks_url=address)
    for name in ("IdToken", "AccessToken"):
        found = verifier.verify(login[name])
        assert found.subject == jwt.decode(login[name], options={"verify_signature": False})["sub"]
        assert found.roles == {"staff"}
    other = Verifier.of_cognito("eu-central-1", pool, ["other"], real_world(), jwks_url=address)
    with pytest.raises(Problem, match="TOKEN_FOREIGN"):
        other.verify(login["AccessToken"])
