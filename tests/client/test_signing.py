"""Our signatures are those of botocore, to the letter."""

from __future__ import annotations

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials
from hypothesis import given
from hypothesis import strategies as st

from tablewright.client.endpoint import endpoint_of
from tablewright.client.signing import Credentials, signed_request

STAMP = "20260131T235959Z"
WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40)


@pytest.mark.parametrize(
    "url", ["http://localhost:8000", "https://dynamodb.eu-west-1.amazonaws.com", "https://x.org/a-b/c"]
)
@given(secret=WORDS, token=st.none() | WORDS, body=st.binary(max_size=200))
def test_a_signature_is_the_one_botocore_makes(url: str, secret: str, token: str | None, body: bytes) -> None:
    where = endpoint_of(url)
    credentials = Credentials("AKID", secret, token)
    request = signed_request(credentials, "eu-west-1", where, "DynamoDB_20120810.GetItem", STAMP, body)
    head, _, sent = request.partition(b"\r\n\r\n")
    lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])

    theirs = AWSRequest(
        "POST",
        url.rstrip("/") + "/",
        data=body,
        headers={"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.GetItem"},
    )
    theirs.context["timestamp"] = STAMP
    theirs.headers["X-Amz-Date"] = STAMP
    if token is not None:
        theirs.headers["X-Amz-Security-Token"] = token
    auth = SigV4Auth(BotoCredentials("AKID", secret, token), "dynamodb", "eu-west-1")
    signature = auth.signature(auth.string_to_sign(theirs, auth.canonical_request(theirs)), theirs)

    assert lines["Authorization"].endswith(f"Signature={signature}")
    assert sent == body
    assert lines["Content-Length"] == str(len(body))
    assert lines.get("X-Amz-Security-Token") == token
