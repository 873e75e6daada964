"""The DynamoDB HTTP protocol in front of an engine.

    with Engine.open(":memory:") as engine, serving(engine) as url:
        boto3.client("dynamodb", endpoint_url=url, ...)

Must hold: what the engine answers goes out unchanged; nothing here knows what a table is.
Behind this door: server.py (listening, time, stopping), connection.py and reader.py (one client), gate.py
(the order of checks), signature.py and credentials.py (who asks), group.py (writes that share a commit),
letterhead.py (answers), metrics.py (figures), peers.py (other regions), limits.py.
"""

from tablewright.wire.credentials import AccessKey, CredentialsUnusable, read_credentials, read_token
from tablewright.wire.limits import Limits
from tablewright.wire.server import CannotListen, OpenToTheNetwork, Server, check_reach, serve, serving

__all__ = [
    "AccessKey",
    "CannotListen",
    "CredentialsUnusable",
    "Limits",
    "OpenToTheNetwork",
    "Server",
    "check_reach",
    "read_credentials",
    "read_token",
    "serve",
    "serving",
]
