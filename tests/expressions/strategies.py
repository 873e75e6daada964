"""Expressions and items for Hypothesis, small enough to meet each other often.

Parsed nodes hold placeholders, resolved nodes hold values; a strategy of operands is given the leaves it
may end in and so makes either.
"""

from hypothesis import strategies as st

from tablewright.expressions import BadExpression
from tablewright.expressions.nodes import (
    Action,
    Add,
    And,
    Arithmetic,
    Between,
    Call,
    Compare,
    Condition,
    Delete,
    In,
    Not,
    Operand,
    Or,
    Path,
    Remove,
    Set,
    Update,
    ValueRef,
)
from tablewright.expressions.paths import refuse_clashes
from tablewright.values import Item, Value, admit

Operands = st.SearchStrategy[Operand]

NAMES = ("a", "b", "cnt")
COMPARATORS = ("=", "<>", "<", "<=", ">", ">=")


def paths(*names: str) -> st.SearchStrategy[Path]:
    name = st.sampled_from(names)
    return st.tuples(name, st.lists(name | st.integers(0, 3), max_size=3)).map(lambda p: (p[0], *p[1]))


# Values and items

SCALARS: st.SearchStrategy[Value] = st.one_of(
    st.sampled_from(["", "x", "xy", "y", "😀"]).map(lambda text: {"S": text}),
    st.sampled_from(["0", "1", "-1", "2.5", "10"]).map(lambda text: {"N": text}),
    st.sampled_from(["", "eA==", "eHk="]).map(lambda text: {"B": text}),
    st.booleans().map(lambda flag: {"BOOL": flag}),
    st.just({"NULL": True}),
    st.sets(st.sampled_from(["x", "y"]), min_size=1).map(lambda members: {"SS": sorted(members)}),
    st.sets(st.sampled_from(["1", "2.5", "10"]), min_size=1).map(lambda m: admit({"NS": list(m)})[0]),
)
VALUES: st.SearchStrategy[Value] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda elements: {"L": elements})
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3).map(lambda members: {"M": members})
    ),
    max_leaves=6,
)
ITEMS: st.SearchStrategy[Item] = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3)


# What operands end in

PARSED_LEAVES: Operands = paths(*NAMES, "#n", "#long_1") | st.sampled_from([":v", ":w2"]).map(ValueRef)
RESOLVED_LEAVES: Operands = paths(*NAMES) | SCALARS


def conditions(leaves: Operands, any_path: st.SearchStrategy[Path]) -> st.SearchStrategy[Condition]:
    operand: Operands = leaves | leaves.map(lambda leaf: Call("size", (leaf,)))
    simple: st.SearchStrategy[Condition] = st.one_of(
        st.builds(Compare, st.sampled_from(COMPARATORS), operand, operand),
        st.builds(Between, operand, operand, operand),
        st.builds(In, operand, st.lists(operand, min_size=1, max_size=3).map(tuple)),
        st.builds(Call, st.sampled_from(["attribute_exists", "attribute_not_exists"]), st.tuples(any_path)),
        st.builds(Call, st.sampled_from(["begins_with", "contains"]), st.tuples(operand, operand)),
    )
    return st.recursive(
        simple,
        lambda part: st.one_of(
            st.builds(Not, part),
            st.builds(And, st.lists(part, min_size=2, max_size=3).map(tuple)),
            st.builds(Or, st.lists(part, min_size=2, max_size=3).map(tuple)),
        ),
        max_leaves=8,
    )


def updates(
    leaves: Operands, addends: Operands, any_path: st.SearchStrategy[Path]
) -> st.SearchStrategy[Update]:
    append = st.builds(Call, st.just("list_append"), st.tuples(leaves, leaves))
    value: Operands = st.recursive(
        leaves | append,
        lambda inner: st.one_of(
            st.builds(Arithmetic, st.sampled_from("+-"), inner, inner),
            st.builds(Call, st.just("if_not_exists"), st.tuples(any_path, inner)),
        ),
        max_leaves=3,
    )
    clauses: list[st.SearchStrategy[list[Action]]] = [
        st.lists(st.builds(Set, any_path, value), max_size=2),
        st.lists(st.builds(Remove, any_path), max_size=2),
        st.lists(st.builds(Add, any_path, addends), max_size=2),
        # A number can be added and not taken out of a set: that is refused before anything is applied.
        st.lists(st.builds(Delete, any_path, addends.filter(_may_be_set)), max_size=2),
    ]
    return st.tuples(st.permutations(range(4)), *clauses).map(
        lambda drawn: Update(tuple(action for place in drawn[0] for action in drawn[1 + place]))
    )


def _may_be_set(operand: Operand) -> bool:
    return not (isinstance(operand, dict) and "N" in operand)


def without_clashes(update: Update) -> Update:
    """The update without those actions whose paths are in the way of earlier ones."""
    kept: list[Action] = []
    for action in update.actions:
        try:
            refuse_clashes([*(one.path for one in kept), action.path])
        except BadExpression:
            continue
        kept.append(action)
    return Update(tuple(kept))


PARSED_PATHS = paths(*NAMES, "#n", "#long_1")
PARSED_CONDITIONS = conditions(PARSED_LEAVES, PARSED_PATHS)
PARSED_UPDATES = updates(PARSED_LEAVES, st.sampled_from([":v", ":w2"]).map(ValueRef), PARSED_PATHS).filter(
    lambda update: bool(update.actions)  # an empty text is no update
)

RESOLVED_CONDITIONS = conditions(RESOLVED_LEAVES, paths(*NAMES))
RESOLVED_UPDATES = updates(
    paths(*NAMES) | SCALARS | st.lists(SCALARS, max_size=2).map(lambda elements: {"L": elements}),
    st.sampled_from([{"N": "1.5"}, {"SS": ["w", "x"]}, {"NS": ["1", "9"]}]),
    paths(*NAMES),
).map(without_clashes)
