"""What an operator can set: `campus.json` in the system's directory, every value with a default.

{"scanner": "clamd:/run/clamav/clamd.ctl", "publicLinks": false, "domains": ["university.edu"]}
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

FILE = "campus.json"
_GIB = 1024**3


class Settings(BaseModel):
    """The settings of one campus."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)

    # `none`, `signatures`, or `clamd:` with a socket's path or host:port.
    scanner: str = "signatures"
    # Whether files that no scanner has looked at can be downloaded by others than their owner.
    share_unscanned: bool = False
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


class SettingsUnusable(ValueError):
    """The settings cannot be read."""


def settings_in(home: Path) -> Settings:
    """The settings in a directory; the defaults if there are none."""
    file = home / FILE
    if not file.exists():
        return Settings()
    try:
        return Settings.model_validate_json(file.read_bytes())
    except ValidationError as mistakes:
        first = mistakes.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise SettingsUnusable(f"{file}: {where}: {first['msg']}") from None
