"""What an operator can set of a system: a JSON file in the system's directory, every value with a default."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel


class OperatorSettings(BaseModel):
    """The base of a system's settings, and of what they contain."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


S = TypeVar("S", bound=OperatorSettings)


class SettingsUnusable(ValueError):
    """The settings cannot be read."""


def settings_in(file: Path, model: type[S]) -> S:
    """The settings in a file; the defaults if there is none."""
    if not file.exists():
        return model()
    try:
        return model.model_validate_json(file.read_bytes())
    except ValidationError as mistakes:
        first = mistakes.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise SettingsUnusable(f"{file}: {where}: {first['msg']}") from None
