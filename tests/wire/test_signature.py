"""Signature Version 4, against botocore's own signer: who is let in, and which sentence the others read."""

from __future__ import annotations

import hashlib
import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from tests.wire.fake_engine import FakeEngine, as_engine, get

from tablewright.engine.transaction import EngineContext
from tablewright.wire import AccessKey, CredentialsUnusable, read_credentials, serving
from tablewright.world import World, real_world

ANNA = AccessKey("AKIDANNA", "anna/secret+1")
BERT = AccessKey("AKIDBERT", "bert%secret", token="bert=token")
KEYS = {key.id: key for key in (ANNA, BERT)}
REGION = "eu-central-1"
BODY = json.dumps(get("a")).encode()


@dataclass
class Clock:
    """The server's time; the client's is the machine's."""

    ahead: timedelta = field(default_factory=timedelta)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def locked_url(engine: FakeEngine, clock: Clock) -> Iterator[str]:
    real = real_world()
    world = World(now=clock.now, new_id=real.new_id, jitter=real.jitter)
    engine.place = EngineContext(REGION)
    with serving(as_engine(engine), credentials=KEYS, world=world) as url:
        yield url


def signed(
    url: str, key: AccessKey = ANNA, *, region: str = REGION, service: str = "dynamodb", path: str = "/"
) -> AWSRequest:
    request = AWSRequest(
        method="POST",
        url=url + path,
        data=BODY,
        headers={
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "DynamoDB_20120810.GetItem",
            "X-Spaced": "  one   two  ",
        },
    )
    SigV4Auth(Credentials(key.id, key.secret, key.token), service, region).add_auth(request)
    return request


def sent(request: AWSRequest, body: bytes | None = None) -> tuple[int, dict[str, Any]]:
    parts = urlsplit(request.url)
    assert parts.hostname is not None
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    data = request.body if body is None else body
    connection.request("POST", target, body=data, headers=dict(request.headers.items()))
    answer = connection.getresponse()
    read = json.loads(answer.read())
    connection.close()
    return answer.status, read


def refusal(request: AWSRequest, body: bytes | None = None) -> tuple[str, str]:
    status, read = sent(request, body)
    assert status == 400
    namespace, _, name = read["__type"].partition("#")
    assert namespace == "com.amazon.coral.service"
    return name, read["message"]


def altered(request: AWSRequest, old: str, new: str) -> AWSRequest:
    """The same request with its Authorization tampered with."""
    authorization = request.headers["Authorization"]
    assert old in authorization
    del request.headers["Authorization"]
    request.headers["Authorization"] = authorization.replace(old, new)
    return request


@pytest.mark.parametrize("key", [ANNA, BERT])
def test_a_request_signed_by_a_known_key_is_let_in(locked_url: str, key: AccessKey) -> None:
    assert sent(signed(locked_url, key)) == (200, {})


@pytest.mark.parametrize("path", ["/some/where", "/a%20b", "/?b=2&a=1&a=0&c", "/?x=%2F%20&y=a%2Bb"])
def test_path_and_query_are_part_of_what_is_signed(locked_url: str, path: str) -> None:
    assert sent(signed(locked_url, path=path))[0] == 200


def test_boto3_gets_in_with_a_known_key_and_not_with_a_wrong_secret(locked_url: str) -> None:
    def client(secret: str) -> Any:
        return boto3.client(
            "dynamodb",
            endpoint_url=locked_url,
            region_name=REGION,
            aws_access_key_id=ANNA.id,
            aws_secret_access_key=secret,
        )

    assert "Item" not in client(ANNA.secret).get_item(**get("a"))
    with pytest.raises(ClientError) as refused:
        client("wrong").get_item(**get("a"))
    assert refused.value.response["Error"]["Code"] == "InvalidSignatureException"


def test_an_unknown_key_is_not_recognised(locked_url: str) -> None:
    assert refusal(signed(locked_url, AccessKey("AKIDEVE", "x"))) == (
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
    )


@pytest.mark.parametrize("token", [None, "another"])
def test_a_key_with_a_session_token_needs_that_token(locked_url: str, token: str | None) -> None:
    name, _ = refusal(signed(locked_url, AccessKey(BERT.id, BERT.secret, token)))
    assert name == "UnrecognizedClientException"


def test_a_key_without_a_session_token_takes_none(locked_url: str) -> None:
    name, _ = refusal(signed(locked_url, AccessKey(ANNA.id, ANNA.secret, "made-up")))
    assert name == "UnrecognizedClientException"


MISMATCH = (
    "InvalidSignatureException",
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
    "Access Key and signing method. Consult the service documentation for details.",
)


def test_a_wrong_secret_does_not_match(locked_url: str) -> None:
    assert refusal(signed(locked_url, AccessKey(ANNA.id, "wrong"))) == MISMATCH


def test_a_body_changed_on_the_way_does_not_match(locked_url: str) -> None:
    assert refusal(signed(locked_url), json.dumps(get("b")).encode()) == MISMATCH


def test_a_signed_header_changed_on_the_way_does_not_match(locked_url: str) -> None:
    request = signed(locked_url)
    request.headers.replace_header("X-Spaced", "one three")
    assert refusal(request) == MISMATCH


def test_a_signed_header_lost_on_the_way_does_not_match(locked_url: str) -> None:
    request = signed(locked_url)
    del request.headers["X-Spaced"]
    assert refusal(request) == MISMATCH


def test_a_query_changed_on_the_way_does_not_match(locked_url: str) -> None:
    request = signed(locked_url, path="/?a=1")
    request.url = request.url.replace("a=1", "a=2")
    assert refusal(request) == MISMATCH


def test_a_payload_hash_in_a_header_is_not_believed(locked_url: str) -> None:
    request = AWSRequest(
        method="POST",
        url=locked_url + "/",
        data=b"{}",
        headers={
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "DynamoDB_20120810.GetItem",
            "X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD",
        },
    )
    SigV4Auth(Credentials(ANNA.id, ANNA.secret), "dynamodb", REGION).add_auth(request)
    assert refusal(request) == MISMATCH


def test_a_request_signed_more_than_15_minutes_ago_has_expired(locked_url: str, clock: Clock) -> None:
    clock.ahead = timedelta(minutes=14)
    assert sent(signed(locked_url))[0] == 200
    clock.ahead = timedelta(minutes=16)
    request = signed(locked_url)
    name, message = refusal(request)
    assert name == "InvalidSignatureException"
    assert message.startswith(f"Signature expired: {request.context['timestamp']} is now earlier than 2")
    assert message.endswith("Z - 15 min.)")


def test_a_request_signed_more_than_15_minutes_ahead_is_not_yet_current(
    locked_url: str, clock: Clock
) -> None:
    clock.ahead = -timedelta(minutes=16)
    request = signed(locked_url)
    name, message = refusal(request)
    assert name == "InvalidSignatureException"
    assert message.startswith(
        f"Signature not yet current: {request.context['timestamp']} is still later than 2"
    )
    assert message.endswith("Z + 15 min.)")


def test_a_date_in_no_known_format_is_quoted_back(locked_url: str) -> None:
    request = signed(locked_url)
    request.headers.replace_header("X-Amz-Date", "201")
    assert refusal(request) == (
        "IncompleteSignatureException",
        "Date must be in ISO-8601 'basic format'. Got '201'. See http://en.wikipedia.org/wiki/ISO_8601",
    )


def test_a_signature_that_leaves_out_the_host_is_invalid(locked_url: str) -> None:
    assert refusal(altered(signed(locked_url), ";host;", ";")) == (
        "InvalidSignatureException",
        "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
    )


def test_an_unknown_algorithm_is_named(locked_url: str) -> None:
    assert refusal(altered(signed(locked_url), "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA25")) == (
        "IncompleteSignatureException",
        "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for now). ",
    )


def test_a_credential_of_four_parts_is_quoted_back(locked_url: str) -> None:
    name, message = refusal(altered(signed(locked_url), "/aws4_request", ""))
    assert name == "IncompleteSignatureException"
    assert message.startswith(
        "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, "
        "got 'AKIDANNA/"
    )


def test_a_credential_for_elsewhere_is_told_every_part_that_is_wrong(locked_url: str) -> None:
    request = signed(locked_url)
    stamp = request.context["timestamp"]
    wrong = altered(request, f"/{stamp[:8]}/{REGION}/dynamodb/aws4_request", "/b/c/d/e")
    assert refusal(wrong) == (
        "InvalidSignatureException",
        "Credential should be scoped to a valid region, not 'c'. "
        "Credential should be scoped to correct service: 'dynamodb'. "
        "Credential should be scoped with a valid terminator: 'aws4_request', not 'e'. "
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
        f"'b' != '{stamp[:8]}', from '{stamp}'.",
    )


def test_a_request_without_a_signature_is_missing_its_token_here_too(locked_url: str) -> None:
    request = signed(locked_url)
    del request.headers["Authorization"]
    assert refusal(request)[0] == "MissingAuthenticationTokenException"


class QueryAuth(SigV4QueryAuth):  # type: ignore[misc]  # botocore is untyped
    """botocore moves a body into the query before it signs; DynamoDB's stays where it is."""

    def payload(self, request: AWSRequest) -> str:
        return hashlib.sha256(BODY).hexdigest()


def presigned(url: str, expires: int = 600, key: AccessKey = ANNA) -> AWSRequest:
    request = AWSRequest(method="POST", url=url + "/", headers={"X-Amz-Target": "DynamoDB_20120810.GetItem"})
    credentials = Credentials(key.id, key.secret, key.token)
    QueryAuth(credentials, "dynamodb", REGION, expires=expires).add_auth(request)
    request.headers["Content-Type"] = "application/json"
    return request


@pytest.mark.parametrize("key", [ANNA, BERT])
def test_a_signature_in_the_query_is_verified_as_well(locked_url: str, key: AccessKey) -> None:
    assert sent(presigned(locked_url, key=key), BODY) == (200, {})
    request = presigned(locked_url, key=key)
    assert refusal(request, json.dumps(get("b")).encode()) == MISMATCH


def test_a_signature_in_the_query_lives_as_long_as_it_says(locked_url: str, clock: Clock) -> None:
    clock.ahead = timedelta(minutes=50)
    assert sent(presigned(locked_url, expires=3600), BODY)[0] == 200
    name, message = refusal(presigned(locked_url, expires=600), BODY)
    assert name == "InvalidSignatureException"
    assert message.endswith("Z - 10 min.)")


def test_the_health_line_needs_no_signature(locked_url: str) -> None:
    parts = urlsplit(locked_url)
    assert parts.hostname is not None
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    connection.request("GET", "/")
    assert connection.getresponse().read() == f"healthy: dynamodb.{REGION}.amazonaws.com ".encode()
    connection.close()


def keys_in(tmp_path: Path, text: str | bytes) -> Mapping[str, AccessKey]:
    file = tmp_path / "keys.ini"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_credentials(file)


def test_each_profile_of_a_credentials_file_is_a_key(tmp_path: Path) -> None:
    text = """
# who may call
[default]
aws_access_key_id = AKIDANNA
aws_secret_access_key=anna/secret+1
[bert]
aws_access_key_id=AKIDBERT
aws_secret_access_key = bert%secret
aws_session_token = bert=token
region = eu-central-1
"""
    assert keys_in(tmp_path, text) == KEYS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no profile"),
        ("[a]\naws_access_key_id = A\n", "profile [a] has no aws_secret_access_key"),
        ("[a]\naws_secret_access_key = A\n", "profile [a] has no aws_access_key_id"),
        ("[a]\naws_access_key_id = \naws_secret_access_key = s\n", "profile [a] has no aws_access_key_id"),
        ("aws_access_key_id = A\n", "not in the AWS credentials format"),
        ("[a]\nsomething hidden\n", "not in the AWS credentials format"),
        (b"\xff\xfe\x00", "not a text file"),
        (
            "[a]\naws_access_key_id=A\naws_secret_access_key=s\n[b]\naws_access_key_id=A\naws_secret_access_key=t\n",
            "two profiles have the access key id A",
        ),
    ],
)
def test_a_credentials_file_that_cannot_be_used_whole_is_refused(
    tmp_path: Path, text: str | bytes, why: str
) -> None:
    with pytest.raises(CredentialsUnusable) as refused:
        keys_in(tmp_path, text)
    assert why in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_a_credentials_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CredentialsUnusable, match=r"missing\.ini: cannot be read: No such file"):
        read_credentials(tmp_path / "missing.ini")


def test_a_key_does_not_show_its_secret_when_printed() -> None:
    assert "secret" not in repr(ANNA).replace("secret=", "")
    assert "token" not in repr(BERT).replace("token=", "")


@pytest.mark.parametrize("name", ["x-amz-target", "x-amz-date", "x-amz-anything"])
def test_a_header_of_the_services_own_that_is_not_signed_is_refused(locked_url: str, name: str) -> None:
    request = signed(locked_url)
    if name == "x-amz-anything":
        request.headers["X-Amz-Anything"] = "added on the way"
    else:
        names = request.headers["Authorization"].partition("SignedHeaders=")[2].partition(",")[0]
        rest = ";".join(each for each in names.split(";") if each != name)
        request = resigned(request, rest)
    assert refusal(request) == (
        "InvalidSignatureException",
        f"'{name}' must be a 'SignedHeader' in the AWS Authorization.",
    )


def test_a_header_of_another_kind_need_not_be_signed(locked_url: str) -> None:
    request = signed(locked_url)
    request.headers["X-Amzn-Trace-Id"] = "Root=1-5759e988-bd862e3fe1be46a994272793"
    assert sent(request) == (200, {})


def resigned(request: AWSRequest, names: str) -> AWSRequest:
    """The same request, signed properly, but with these headers only."""
    auth = SigV4Auth(Credentials(ANNA.id, ANNA.secret), "dynamodb", REGION)
    chosen = {name: request.headers[name] for name in names.split(";") if name in request.headers}
    bare = AWSRequest(method="POST", url=request.url, data=BODY, headers=chosen)
    bare.context["timestamp"] = request.headers["X-Amz-Date"]
    authorization = request.headers["Authorization"]
    for old, new in (
        (authorization.partition("SignedHeaders=")[2].partition(",")[0], names),
        (authorization.rpartition("=")[2], auth.signature(_to_sign(auth, bare), bare)),
    ):
        authorization = authorization.replace(old, new)
    del request.headers["Authorization"]
    request.headers["Authorization"] = authorization
    return request


def _to_sign(auth: SigV4Auth, request: AWSRequest) -> str:
    text: str = auth.string_to_sign(request, auth.canonical_request(request))
    return text
