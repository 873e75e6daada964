"""The access keys of a server, read from a file in the AWS credentials format.

    [anna]
    aws_access_key_id = AKIDANNA
    aws_secret_access_key = ...
    aws_session_token = ...          (optional; then requests must carry it)

Each profile is one key; the profile's name is for people only.
Must hold: a file with one unusable profile is not used at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class AccessKey:
    """An access key: what one client signs with."""

    id: str
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)


class CredentialsUnusable(ValueError):
    """A credentials or token file that cannot be used."""

    def __init__(self, path: Path, why: str) -> None:
        self.path = path
        super().__init__(f"{path}: {why}")


def read_credentials(path: str | Path) -> Mapping[str, AccessKey]:
    """The keys of a credentials file, by access key id."""
    from configparser import Error, RawConfigParser  # here: a server without such a file does not load it

    path = Path(path)
    # Without '=' as the only delimiter a secret holding ':' before '=' would be cut there.
    parser = RawConfigParser(delimiters=("=",), default_section="")
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=str(path))
    except OSError as error:
        raise CredentialsUnusable(path, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CredentialsUnusable(path, "is not a text file in UTF-8") from error
    except Error as error:
        # The parser's own message would quote the line, which may hold a secret.
        why = "is not in the AWS credentials format ([profile], then name = value lines, each name once)"
        raise CredentialsUnusable(path, why) from error
    keys: dict[str, AccessKey] = {}
    for profile in parser.sections():
        key = _key_of(path, profile, parser[profile])
        if key.id in keys:
            raise CredentialsUnusable(path, f"two profiles have the access key id {key.id}")
        keys[key.id] = key
    if not keys:
        why = "has no profile: write [name], aws_access_key_id, aws_secret_access_key"
        raise CredentialsUnusable(path, why)
    return keys


def read_token(path: str | Path) -> str:
    """The token in a file of one line."""
    path = Path(path)
    try:
        token = path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise CredentialsUnusable(path, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CredentialsUnusable(path, "is not a token: one line of ASCII letters") from error
    if len(token) < 16 or len(token.split()) != 1:
        raise CredentialsUnusable(path, "is not a token: one line of 16 letters or more, without spaces")
    return token


def _key_of(path: Path, profile: str, values: Mapping[str, str]) -> AccessKey:
    for name in ("aws_access_key_id", "aws_secret_access_key"):
        if not values.get(name):
            raise CredentialsUnusable(path, f"profile [{profile}] has no {name}")
    return AccessKey(
        values["aws_access_key_id"], values["aws_secret_access_key"], values.get("aws_session_token") or None
    )
