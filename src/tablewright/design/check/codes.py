"""What each code of a design that is refused means, and of what a target lacks: K, P and T, in words.

Must hold: each code that a finding of the design language can have is here, and no other (a test compares them).
Elsewhere: the functions that look for them (keys.py and the others), targets (capabilities.py), the rules for a design
that works (review/).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """A code: what it finds, why that matters, and what to do. Each is an error."""

    code: str
    explanation: str
    fix: str


_CODES = (
    Code("K001", "A template names a field that its entity does not have. No key can be made of it.",
         "name a field of the entity, or add the field"),
    Code("K002", "A Boolean stands in a key without a way to write it. A key is text, a number or binary.",
         "write {field:bool} for both values, or {field:flag} to index only what is true"),
    Code("K003", "A number stands in a text key without a width. As text, 10 sorts before 9.",
         "write {field:12} for twelve digits, or {field:8.2} for a decimal"),
    Code("K004", "A time stands in a key without a width. Texts of different length do not sort by time.",
         "write {field:ms}, or :us, :s, :hour, :day, :month"),
    Code("K005", "A part of a key is written in a way that its field's type does not have. The key cannot be made.",
         "choose a way that fits the type, or a value that the field can have"),
    Code("K006", "A key function has other parameters than the key has fields. Calls would not fit the key.",
         "give it the fields of the key, with their types"),
    Code("K007", "Two parts of varying width are side by side in a key. 'ab' and 'c' would be the key of 'a' and 'bc'.",
         "put a '#' between them"),
    Code("K008", "Two entities of a table, or a guard, can have the same primary key. One would overwrite the other.",
         "begin one of them with a literal of its own"),
    Code("K009", "A key attribute has two types, or one that a key cannot have. DynamoDB refuses such an item.",
         "store both the same way, or give the key attribute a name of its own"),
    Code("K010", "A field has a type that no DynamoDB attribute can hold. Its items cannot be written.",
         "use text, numbers, times, lists, maps or models"),
    Code("K011", "An entity has the key attributes of an index that it does not name. Its items appear in that index.",
         "name the index in the entity, or store the field under another name"),
    Code("K012", "A field of a primary key may be absent. An item without its key cannot be written.",
         "make the field required"),
    Code("K013", "A table has more indexes, or larger ones, than DynamoDB allows. It cannot be created.",
         "share an index between entities, or project ALL"),
    Code("K014", "One attribute is made in two ways. Of the two values only one is stored.",
         "give one attribute one template, and rename the other"),
    Code("K015", "A version, an expiry, a state or another trait names a field that is absent or of another type. "
         "What it promises cannot be held.", "name a field of the type that it needs"),
    Code("K016", "Two indexes of a table have one name. A read cannot say which it means.",
         "name one of them differently"),
    Code("K017", "The guard of a unique value does not fit its table, or is not made of the value. "
         "Two items could then have the same value.", "use the same parts in both, in a table with a text key"),
    Code("K018", "An entity has more or fewer templates than a key has attributes. Its key cannot be made.",
         "give one template for each attribute of the key"),
    Code("K019", "A copy names an entity or a field that does not exist. It cannot be refreshed.",
         "name an entity of the design, and a field of it"),
    Code("K021", "A name of a table or an index is not one that DynamoDB takes. It cannot be created.",
         "use 3 to 255 letters, digits, _ . or -"),
    Code("K022", "An entity names an index of another table. Its items can never be there.",
         "make an index of the table of the entity"),
    Code("K023", "An index of keys only holds items that can expire or be deleted. It cannot tell which are gone.",
         "project the attributes that patterns need"),
    Code("K024", "A table is followed and has no stream. Its followers would never be called.",
         "name a stream, or do not follow it"),
    Code("K025", "A vector index is outside of the limits of DynamoDB. It cannot be created.",
         "use fewer dimensions, filters or indexes"),
    Code("K026", "A vector index names an attribute that is absent or of another type. Nothing would be in it.",
         "name a stored field of the type that it needs"),
    Code("P001", "The parameters of a pattern are not the parts of its keys. A key cannot be made of them.",
         "make them equal: a parameter for each part, and no other"),
    Code("P002", "A prefix does not end at '#'. USER#1 would also match USER#10.",
         "end it with '#', or compare the whole key"),
    Code("P003", "A pattern reads an index in which its entity is not. It would return nothing.",
         "give the entity a key in that index"),
    Code("P004", "A pattern has other halves of a key than its table or index. The request is refused.",
         "give one template for each attribute of the key"),
    Code("P005", "A template of a pattern never equals, or begins, the key of its entity. It would return nothing.",
         "write it as the entity does, from the left"),
    Code("P006", "A strongly consistent read of a global index is asked for. DynamoDB has none.",
         "read the table, or drop consistent"),
    Code("P007", "The range of a pattern also holds items of other entities. Pages and counts are then wrong.",
         "narrow sk, add the entity to the pattern, or pass over the others"),
    Code("P008", "An index does not carry a field that a pattern returns. It would come back as its default.",
         "project the field, or return a view without it"),
    Code("P009", "A parameter has another type than the field it is compared with. The two never match.",
         "give the parameter the type of the field"),
    Code("P010", "A pattern reads another number of shards than its entity writes. Items are missed.",
         "use the same number in both"),
    Code("P011", "Two patterns have one name. A caller cannot say which is meant.", "name one of them differently"),
    Code("P012", "A page is empty, or larger than the pattern returns at all. No read can be made.",
         "make 1 <= page <= at_most"),
    Code("P013", "A view has a field that its entity does not store so. It cannot be read.",
         "use fields of the entity, with their types and names"),
    Code("P014", "A pattern reads entities of different tables. One request reads one table.",
         "write one pattern for each table"),
    Code("P015", "A search has other parameters than its index has a partition and filters. It cannot be asked.",
         "name the partition, which is needed, and filters"),
    Code("P016", "A vector index does not carry a field that a search returns. It would come back as its default.",
         "project the field, or return a view without it"),
    Code("T001", "The target lacks something that the design needs. The design does not run there.",
         "choose another target, or do without it"),
    Code("T002", "The target has a part of what the design needs. What differs is in docs/capabilities.md.",
         "test what differs, or choose another target"),
)  # fmt: skip
CODES: dict[str, Code] = {each.code: each for each in _CODES}
