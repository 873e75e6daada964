"""What a change changes, as text: for the records that are written with it."""

from collections.abc import Collection, Mapping

from pydantic import BaseModel


def differences(
    before: BaseModel | None, after: BaseModel | None, noise: Collection[str] = ()
) -> tuple[dict[str, str], dict[str, str]]:
    """What was and what is, where the two differ, by the names of the API; `noise` are fields that always do."""
    old, new = _texts(before, noise), _texts(after, noise)
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return {n: old[n] for n in names if n in old}, {n: new[n] for n in names if n in new}


def _texts(value: BaseModel | None, noise: Collection[str]) -> Mapping[str, str]:
    if value is None:
        return {}
    shown = value.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=set(noise))
    return {name: part if isinstance(part, str) else repr(part) for name, part in shown.items()}
