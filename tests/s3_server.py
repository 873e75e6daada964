"""S3 for tests: moto's server on loopback, behind the same boto3 that talks to Amazon.

moto checks neither signatures nor the expiry of links, lists no checksums of parts, and says of every upload that it
was begun in 2010. Requests for unknown uploads, which it answers with an internal error, are refused here as by S3.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import boto3
import pytest

KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of a server."""
    moto_server = pytest.importorskip("moto.server", reason="S3 is tested against moto's server")
    models, errors = import_module("moto.s3.models"), import_module("moto.s3.exceptions")

    def for_known_uploads(call: Callable[..., Any]) -> Callable[..., Any]:
        def checked(backend: Any, bucket_name: str, multipart_id: str, *given: Any, **named: Any) -> Any:
            if multipart_id not in backend.get_bucket(bucket_name).multiparts:
                raise errors.NoSuchUpload(upload_id=multipart_id)
            return call(backend, bucket_name, multipart_id, *given, **named)

        return checked

    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("upload_part", "complete_multipart_upload"):
            patch.setattr(models.S3Backend, name, for_known_uploads(getattr(models.S3Backend, name)))
        server.start()
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
        server.stop()


def use_server(url: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of S3; boto3 finds the server and a key for it as long as the environment is patched."""
    for key in KEYS:
        monkeypatch.setenv(key, "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", url)
    return boto3.client("s3", endpoint_url=url, region_name="us-east-1")


@contextmanager
def new_bucket(client: Any, name: str) -> Iterator[None]:
    """An empty bucket, deleted afterwards with everything in it."""
    client.create_bucket(Bucket=name)
    yield
    for upload in client.list_multipart_uploads(Bucket=name).get("Uploads", []):
        client.abort_multipart_upload(Bucket=name, Key=upload["Key"], UploadId=upload["UploadId"])
    versions = client.list_object_versions(Bucket=name)
    for found in (*versions.get("Versions", []), *versions.get("DeleteMarkers", [])):
        client.delete_object(Bucket=name, Key=found["Key"], VersionId=found["VersionId"])
    client.delete_bucket(Bucket=name)
