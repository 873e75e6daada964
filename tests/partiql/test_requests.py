"""Conditions and updates as the texts of expressions, for the classic verbs."""

from tablewright.expressions import Placeholders, condition, update
from tablewright.partiql import Delete, Update, projecting, statement, worded


def test_the_words_say_what_the_statement_said() -> None:
    text = """UPDATE t SET a.b[1] = a.c + 1, "odd name.x" = [1] REMOVE d SET e = set_add(e, <<'x'>>)
              WHERE pk = 'k' AND (NOT n BETWEEN 1 AND 2 OR contains(s, 'x') AND size(l) IN (1, 2)) AND date2 <> NULL"""
    asked = statement(text, [])
    assert isinstance(asked, Update)
    request = worded(asked.where, asked.changes)
    given = Placeholders(request["ExpressionAttributeNames"], request["ExpressionAttributeValues"])
    assert condition(request["ConditionExpression"], "ConditionExpression", given) == asked.where
    said = update(request["UpdateExpression"], given)
    assert sorted(map(repr, said.actions)) == sorted(map(repr, asked.changes.actions))
    given.check_all_used()


def test_each_clause_stands_once() -> None:
    asked = statement("UPDATE t SET a = 1 REMOVE b SET c = 2 REMOVE d WHERE pk = 1", [])
    assert isinstance(asked, Update)
    text = worded(None, asked.changes)["UpdateExpression"]
    assert (text.count("SET"), text.count("REMOVE")) == (1, 1)


def test_a_name_may_be_any_word_at_all() -> None:
    asked = statement("""DELETE FROM t WHERE "select" = 1 AND "a.b"."#c" = 2""", [])
    assert isinstance(asked, Delete)
    request = worded(asked.where)
    assert set(request["ExpressionAttributeNames"].values()) == {"select", "a.b", "#c"}
    assert not any(word in request["ConditionExpression"] for word in ("select", "a.b"))


def test_nothing_is_said_of_nothing() -> None:
    assert worded(None) == {}
    assert projecting(("size", "a.b")) == {
        "ProjectionExpression": "#0, #1",
        "ExpressionAttributeNames": {"#0": "size", "#1": "a.b"},
    }
