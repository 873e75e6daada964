# Printed by tablewright design repository portal: change the design and print it again.

"""Check the schemas of tables: every schemas/TABLE/NAME.schema.json, each problem by its field.

    python scripts/validate_schemas.py [DIRECTORY]     the directory of the schemas; by default ../schemas

Exit code 0: no problem; 1: problems, one on each line; 2: there is nothing to check.
Needs Python 3.9 and nothing else. `problems(schema)` is the check of one schema that was read already.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

KEY_TYPES = ("S", "N", "B")
TYPES = ("S", "N", "B", "BOOL", "L", "M", "SS", "NS", "BS")
FORMATS = ("ISO 8601", "ISO 8601 date (YYYY-MM-DD)")
VIEWS = ("NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY")
PROJECTIONS = ("ALL", "KEYS_ONLY", "INCLUDE")
DISTANCES = ("COSINE", "EUCLIDEAN", "DOT_PRODUCT")
NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
FREQUENCY = re.compile(r"hourly|daily|weekly|monthly|(cron|rate)\(.+\)")
MOST_GLOBAL, MOST_LOCAL, MOST_PARTS = 20, 5, 4
# Field: its type, and whether it has to be there.
Fields = dict[str, tuple[Any, bool]]
TABLE: Fields = {
    "tableName": (str, True), "description": (str, True), "primaryKey": (dict, True), "attributes": (list, True),
    "globalSecondaryIndexes": (list, True), "localSecondaryIndexes": (list, False), "vectorIndexes": (list, False),
    "ttl": (str, False), "entities": (list, False), "capacityMode": (str, True), "pitr": (dict, True),
    "backup": (dict, True), "streams": (dict, True), "tags": (dict, True),
}  # fmt: skip
KEY: Fields = {"name": (str, True), "type": (str, True), "pattern": (str, True)}
ATTRIBUTE: Fields = {
    "name": (str, True), "type": (str, True), "required": (bool, True), "default": (None, False),
    "enum": (list, False), "format": (str, False), "description": (str, True),
}  # fmt: skip
GLOBAL: Fields = {
    "indexName": (str, True), "partitionKey": (None, True), "sortKey": (None, True), "projectionType": (str, True),
    "nonKeyAttributes": (list, False), "description": (str, True),
}  # fmt: skip
LOCAL = {name: said for name, said in GLOBAL.items() if name != "partitionKey"}
VECTOR: Fields = {
    "indexName": (str, True), "attribute": (str, True), "dimensions": (int, True), "distance": (str, True),
    "partitionKey": (None, True), "filters": (list, True),
}  # fmt: skip
ENTITY: Fields = {
    "name": (str, True), "partitionKey": (str, True), "sortKey": (None, True), "attributes": (list, True),
    "description": (str, True),
}  # fmt: skip
STREAMS: Fields = {"enabled": (bool, True), "viewType": (None, True), "description": (str, False)}
PITR: Fields = {"enabled": (bool, True), "description": (str, False)}
BACKUP: Fields = {"frequency": (str, True), "retention": (int, True)}
WORDS: dict[Any, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    list: "a list",
    dict: "an object",
}
PLAIN: dict[str, Any] = {"S": str, "N": (int, float), "BOOL": bool, "L": list, "M": dict}


def problems(schema: Any) -> list[str]:
    """Everything that is wrong with a schema, as `field: what`; empty if nothing is."""
    if not isinstance(schema, dict):
        return ["the file: is not an object"]
    found = list(fields("", schema, TABLE))
    if found:
        return found
    if not NAME.fullmatch(schema["tableName"]):
        found.append("tableName: must have 3 to 255 letters, digits, or one of _ . -")
    known: dict[str, str] = {}
    found += attributes("attributes", schema["attributes"], known)
    found += primary_key(schema["primaryKey"], known)
    found += indexes(schema, known)
    found += entities(schema.get("entities", []))
    found += settings(schema)
    return found


def fields(where: str, value: Any, said: Fields) -> Iterator[str]:
    """That an object has the fields it must have, no others, and each of its type."""
    if not isinstance(value, dict):
        yield f"{where}: must be an object"
        return
    below = f"{where}." if where else ""
    for name, (kind, is_required) in said.items():
        if name not in value:
            if is_required:
                yield f"{below}{name}: is missing"
        elif kind is not None and not is_of(value[name], kind):
            yield f"{below}{name}: must be {WORDS[kind]}"
    for name in value:
        if name not in said:
            yield f"{below}{name}: is not a field of a schema; there are {', '.join(said)}"


def is_of(value: Any, kind: Any) -> bool:
    """True is not a number here."""
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


# --- attributes ---


def attributes(where: str, listed: Sequence[Any], known: dict[str, str]) -> Iterator[str]:
    """The attributes of a table or an entity; `known` gets their types by name."""
    for at, attribute in enumerate(listed):
        here = f"{where}[{at}]"
        wrong = list(fields(here, attribute, ATTRIBUTE))
        yield from wrong
        if wrong:
            continue
        if attribute["name"] in known:
            yield f"{here}.name: '{attribute['name']}' is listed twice"
        known[attribute["name"]] = attribute["type"]
        yield from attribute_values(here, attribute)


def attribute_values(here: str, attribute: dict[str, Any]) -> Iterator[str]:
    kind = attribute["type"]
    if kind not in TYPES:
        yield f"{here}.type: must be one of {', '.join(TYPES)}"
        return
    if not attribute["description"]:
        yield f"{here}.description: is empty"
    choices = attribute.get("enum")
    if choices is not None and (
        kind != "S" or not choices or not all(isinstance(one, str) for one in choices)
    ):
        yield f"{here}.enum: must be a list of texts, for an attribute of type S"
    if "format" in attribute and (kind != "S" or attribute["format"] not in FORMATS):
        yield f"{here}.format: must be {' or '.join(FORMATS)}, for an attribute of type S"
    if "default" in attribute:
        default = attribute["default"]
        if (
            kind not in PLAIN
            or not isinstance(default, PLAIN[kind])
            or (isinstance(default, bool) and kind != "BOOL")
        ):
            yield f"{here}.default: is not of type {kind}"
        elif choices and default not in choices:
            yield f"{here}.default: '{default}' is not one of the enum"


# --- keys and indexes ---


def primary_key(key: dict[str, Any], known: dict[str, str]) -> Iterator[str]:
    wrong = list(fields("primaryKey", key, {"partitionKey": (dict, True), "sortKey": (None, True)}))
    yield from wrong
    for part in () if wrong else ("partitionKey", "sortKey"):
        here, said = f"primaryKey.{part}", key[part]
        if said is None:
            continue
        wrong = list(fields(here, said, KEY))
        yield from wrong
        if wrong:
            continue
        yield from key_attribute(f"{here}.name", said["name"], known)
        if said["type"] not in KEY_TYPES:
            yield f"{here}.type: must be one of {', '.join(KEY_TYPES)}"
        elif known.get(said["name"], said["type"]) != said["type"]:
            yield f"{here}.type: is {said['type']}, and {known[said['name']]} in attributes"


def key_attribute(where: str, name: str, known: dict[str, str]) -> Iterator[str]:
    """That an attribute may be in a key: it is listed, and text, a number or binary."""
    if name not in known:
        yield f"{where}: '{name}' is not in attributes"
    elif known[name] not in KEY_TYPES:
        yield f"{where}: '{name}' is of type {known[name]}; a key is one of {', '.join(KEY_TYPES)}"


def indexes(schema: dict[str, Any], known: dict[str, str]) -> Iterator[str]:
    names: set[str] = set()
    for field, said, most in (
        ("globalSecondaryIndexes", GLOBAL, MOST_GLOBAL), ("localSecondaryIndexes", LOCAL, MOST_LOCAL),
        ("vectorIndexes", VECTOR, MOST_GLOBAL),
    ):  # fmt: skip
        listed = schema.get(field, [])
        if len(listed) > most:
            yield f"{field}: there are {len(listed)}; a table has {most} at most"
        for at, index in enumerate(listed):
            here = f"{field}[{at}]"
            wrong = list(fields(here, index, said))
            yield from wrong
            if wrong:
                continue
            if index["indexName"] in names or not NAME.fullmatch(index["indexName"]):
                yield f"{here}.indexName: must have 3 to 255 letters, digits, or one of _ . -, and be unique"
            names.add(index["indexName"])
            yield from vector(here, index) if said is VECTOR else index_keys(here, index, known)


def index_keys(here: str, index: dict[str, Any], known: dict[str, str]) -> Iterator[str]:
    for part in ("partitionKey", "sortKey"):
        if part not in index or (part == "sortKey" and index[part] is None):
            continue
        names = index[part] if isinstance(index[part], list) else [index[part]]
        if not 1 <= len(names) <= MOST_PARTS or not all(isinstance(name, str) for name in names):
            yield f"{here}.{part}: must be the name of an attribute, or a list of up to {MOST_PARTS}"
            continue
        for name in names:
            yield from key_attribute(f"{here}.{part}", name, known)
    if index["projectionType"] not in PROJECTIONS:
        yield f"{here}.projectionType: must be one of {', '.join(PROJECTIONS)}"
    elif (index["projectionType"] == "INCLUDE") != bool(index.get("nonKeyAttributes")):
        yield f"{here}.nonKeyAttributes: must list attributes if projectionType is INCLUDE, and only then"


def vector(here: str, index: dict[str, Any]) -> Iterator[str]:
    if index["distance"] not in DISTANCES:
        yield f"{here}.distance: must be one of {', '.join(DISTANCES)}"
    if not 1 <= index["dimensions"] <= 8192:
        yield f"{here}.dimensions: must be between 1 and 8192"


# --- the rest ---


def entities(listed: Sequence[Any]) -> Iterator[str]:
    names: set[str] = set()
    for at, entity in enumerate(listed):
        here = f"entities[{at}]"
        wrong = list(fields(here, entity, ENTITY))
        yield from wrong
        if wrong:
            continue
        if entity["name"] in names:
            yield f"{here}.name: '{entity['name']}' is listed twice"
        names.add(entity["name"])
        yield from attributes(f"{here}.attributes", entity["attributes"], {})


def settings(schema: dict[str, Any]) -> Iterator[str]:
    if schema["capacityMode"] not in ("ON_DEMAND", "PROVISIONED"):
        yield "capacityMode: must be ON_DEMAND or PROVISIONED"
    yield from fields("pitr", schema["pitr"], PITR)
    streams = schema["streams"]
    wrong = list(fields("streams", streams, STREAMS))
    yield from wrong
    if not wrong and streams["viewType"] not in (VIEWS if streams["enabled"] else (None,)):
        yield f"streams.viewType: must be one of {', '.join(VIEWS)}; null if streams are not enabled"
    for name, said in schema["backup"].items():
        wrong = list(fields(f"backup.{name}", said, BACKUP))
        yield from wrong
        if not wrong and not FREQUENCY.fullmatch(said["frequency"]):
            yield f"backup.{name}.frequency: must be hourly, daily, weekly, monthly, cron(...) or rate(...)"
        if not wrong and said["retention"] < 1:
            yield f"backup.{name}.retention: must be a number of days, 1 or more"
    for name, value in schema["tags"].items():
        if not isinstance(value, str):
            yield f"tags.{name}: must be text"


# --- files ---


def read(path: Path) -> tuple[Any, list[str]]:
    """A schema and what is wrong with it; None if it is not JSON."""
    try:
        schema = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        return None, [f"the file: is not JSON: {error}"]
    found = problems(schema)
    if not found and schema["tableName"] != path.parent.name:
        found = [f"tableName: is '{schema['tableName']}', and the folder is '{path.parent.name}'"]
    return schema, found


def main(words: Sequence[str]) -> int:
    directory = Path(words[0]) if words else Path(__file__).resolve().parent.parent / "schemas"
    paths = sorted(directory.glob("*/*.schema.json"))
    if len(words) > 1 or not paths:
        print(f"{directory}: no schemas (TABLE/NAME.schema.json); name their directory", file=sys.stderr)
        return 2
    found = [f"{path}: {problem}" for path in paths for problem in read(path)[1]]
    print("\n".join(found) if found else f"{directory}: {len(paths)} schemas, no problem")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
