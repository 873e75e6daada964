"""`Large`: a field whose bytes are in the item while they are few, and in an object store above that.

    class Report(BaseModel):
        id: str
        body: Large

What is stored in the item is a map: size, checksum, and either the bytes, or the name of an object and when it was
stored. So conditions, streams, exports, sizes and costs are those of the map; nothing reads an object unasked.
Elsewhere: storing and reading objects, and why none is lost (mapping/large_objects.py).
"""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any

from pydantic_core import core_schema

from tablewright.values import Value

# Of the map in the item: size, checksum, the name of the object, when it was stored.
LARGE_PARTS = 4


@dataclass(frozen=True, slots=True)
class Large:
    """Bytes by size and checksum: `inline` has them, or `object` names them and `stored` is when, in epoch seconds.

    As JSON it is its size and checksum.
    """

    size: int
    sha256: str
    inline: bytes | None = None
    object: str | None = None
    stored: int = 0

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        shown = core_schema.plain_serializer_function_ser_schema(_shown, when_used="json")
        return core_schema.is_instance_schema(cls, serialization=shown)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"size": {"type": "integer"}, "sha256": {"type": "string"}}}


def _shown(value: Large) -> dict[str, object]:
    return {"size": value.size, "sha256": value.sha256}


def encode_large(value: Large) -> Value:
    found: dict[str, Value] = {"bytes": {"N": str(value.size)}, "sha256": {"S": value.sha256}}
    if value.object is None:
        return {"M": found | {"inline": {"B": b64encode(value.inline or b"").decode()}}}
    return {"M": found | {"object": {"S": value.object}, "stored": {"N": str(value.stored)}}}


def decode_large(wire: Value) -> Large:
    found = wire["M"]
    size, sha256 = int(found["bytes"]["N"]), found["sha256"]["S"]
    if "object" in found:
        return Large(size, sha256, None, found["object"]["S"], int(found["stored"]["N"]))
    return Large(size, sha256, b64decode(found["inline"]["B"]))
