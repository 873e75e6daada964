"""Expressions: text -> nodes -> resolved nodes -> an answer; and nodes -> text. All of it pure.

    given = Placeholders(names, values)
    node = condition("cnt < :max", "ConditionExpression", given)    # parse (remembered), resolve, check
    given.check_all_used()
    holds(node, item)

Every refusal is a `BadExpression` whose text is the service's own sentence.
"""

from tablewright.expressions.errors import BadExpression
from tablewright.expressions.evaluate import holds
from tablewright.expressions.forms import texts
from tablewright.expressions.keys import KeyPlan, KeyTest, key_condition, key_tests, plan_keys
from tablewright.expressions.legacy import attribute_updates, expected, filter_conditions, key_conditions
from tablewright.expressions.nodes import Condition, Path, Update, paths_in, top_level_names
from tablewright.expressions.paths import project
from tablewright.expressions.render import PlaceholderAllocator, render
from tablewright.expressions.resolve import Placeholders, condition, projection, update
from tablewright.expressions.updates import apply, changed_names, touched

__all__ = [
    "BadExpression",
    "Condition",
    "KeyPlan",
    "KeyTest",
    "Path",
    "PlaceholderAllocator",
    "Placeholders",
    "Update",
    "apply",
    "attribute_updates",
    "changed_names",
    "condition",
    "expected",
    "filter_conditions",
    "holds",
    "key_condition",
    "key_conditions",
    "key_tests",
    "paths_in",
    "plan_keys",
    "project",
    "projection",
    "render",
    "texts",
    "top_level_names",
    "touched",
    "update",
]
