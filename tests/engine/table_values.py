"""Tables and indexes as values, for tests of pure functions: no engine, no store."""

from tablewright.engine.catalog import Index, KeySchema, Table
from tablewright.values import Item

COLOUR = Index(2, "colour", KeySchema(("colour",), ("size",)), False, "KEYS_ONLY")
AGE = Index(1, "age", KeySchema(("pk",), ("age",)), True, "INCLUDE", ("name",))
WHOLE = Index(3, "whole", KeySchema(("colour", "size")), False, "ALL")


def pets(*indexes: Index, ranged: bool = True) -> Table:
    """A table of pets; every attribute that some index may want has its type."""
    return Table(
        number=1,
        name="pets",
        uuid="1-2-3",
        arn="arn:aws:dynamodb:us-east-1:000000000000:table/pets",
        created=0.0,
        schema=KeySchema(("pk",), ("sk",) if ranged else ()),
        types={"pk": "S", "sk": "N", "colour": "S", "size": "N", "age": "N"},
        indexes=indexes,
    )


def pet(pk: str = "rex", sk: int = 1, **attributes: str | int) -> Item:
    item: Item = {"pk": {"S": pk}, "sk": {"N": str(sk)}}
    for name, value in attributes.items():
        item[name] = {"S": value} if isinstance(value, str) else {"N": str(value)}
    return item
