"""The IAM roles of parents and students: exactly the partition that their tags name (ZC-31, ZC-D18)."""

from __future__ import annotations

from tests.design.iam import Right, allows

from tablewright.design.iam import document, plain_arns
from tablewright.design.policies import roles
from tablewright.mapping.deployment import deployment_of
from tablewright.systems.chat.design import CHAT, DESIGNS

INDEX = "table/quest-prod-conversation-v2/index/family-conversations-index"


def test_a_parent_reads_the_index_of_the_own_family_and_family_12_nothing_of_family_123() -> None:
    deployment = deployment_of("chat", DESIGNS, CHAT.environments["prod"])
    found = {role.name: document(role, plain_arns(deployment, "123456789012")) for role in roles(deployment)}
    tags = (("familyId", "family_12"), ("userId", "kim"))

    def may(role: str, action: str, resource: str, key: str) -> bool:
        return allows(found[role], Right(f"dynamodb:{action}", resource, (key,), tags=tags))

    assert may("parent", "Query", INDEX, "family_12")
    assert not may("parent", "Query", INDEX, "family_123")
    assert not may("parent", "GetItem", INDEX, "family_12")
    assert not may("parent", "Query", "table/quest-prod-conversation-v2", "USER#kim")
    assert may("student", "Query", "table/quest-prod-conversation-v2", "USER#kim")
    assert not may("student", "Query", "table/quest-prod-conversation-v2", "USER#kimberley")
    assert not may("student", "Query", INDEX, "family_12")
