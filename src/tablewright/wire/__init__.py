"""The DynamoDB HTTP protocol in front of an engine.

    with Engine.open(":memory:") as engine, serving(engine) as url:
        boto3.client("dynamodb", endpoint_url=url, ...)

Must hold: what the engine answers is sent unchanged; nothing here depends on what a table is.
Modules: server.py (listening, timeouts, stopping), connection.py and request_parser.py (one client),
request_checks.py (the order of checks), signature.py and credentials.py (access keys), group_writer.py (writes that
share a commit), slow_reads.py (reads beside the loop), memory_budget.py and connection_budget.py (memory),
response_writer.py, responses.py and content_encoding.py (responses), metrics.py (figures), limits.py.
"""

from tablewright.wire.credentials import AccessKey, CredentialsUnusable, read_credentials, read_token
from tablewright.wire.limits import Limits
from tablewright.wire.server import CannotListen, OpenToTheNetwork, Server, check_reach, serve, serving

__all__ = [
    "AccessKey", "CannotListen", "CredentialsUnusable", "Limits", "OpenToTheNetwork", "Server", "check_reach",
    "read_credentials", "read_token", "serve", "serving",
]  # fmt: skip
