"""What an operator can set: `campus.json` in the system's directory, every value with a default.

{"scanner": "clamd:/run/clamav/clamd.ctl", "publicLinks": false, "domains": ["university.edu"]}
"""

from typing import Annotated

from pydantic import Field

from tablewright.kit.settings import OperatorSettings

FILE = "campus.json"
_GIB = 1024**3


class Settings(OperatorSettings):
    """The settings of one campus."""

    # `none`, `signatures`, or `clamd:` with a socket's path or host:port.
    scanner: str = "none"
    # What `signatures` finds besides EICAR's test file: the SHA-256 of files, as 64 hexadecimal digits.
    signature_checksums: list[Annotated[str, Field(pattern=r"^(sha256:)?[0-9a-fA-F]{64}$")]] = Field(
        default_factory=list
    )
    # Whether files that no scanner has looked at can be downloaded by others than their owner; if it is not set,
    # only where there is no scanner.
    share_unscanned: bool | None = None
    public_links: bool = True
    link_default_days: int = Field(default=30, ge=1)
    link_most_days: int = Field(default=365, ge=1)
    student_quota: int = Field(default=5 * _GIB, ge=0)
    instructor_quota: int = Field(default=50 * _GIB, ge=0)
    trash_days: int = Field(default=30, ge=1)
    archive_years: int = Field(default=5, ge=1)
    largest_file: int = Field(default=20 * _GIB, ge=1)
    # Addresses in these domains may sign up without being on a roster or having a share.
    domains: list[str] = Field(default_factory=list)

    @property
    def has_scanner(self) -> bool:
        return self.scanner != "none"

    @property
    def shares_unscanned(self) -> bool:
        return not self.has_scanner if self.share_unscanned is None else self.share_unscanned
