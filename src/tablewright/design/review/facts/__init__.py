"""The facts that rules read: what a design states, as frozen data, from a `Design` or from a document.

A fact is what a designer states, never the verdict. Where a document states something twice, there are two facts.
"""

from dataclasses import dataclass

from tablewright.design.review.facts import access, operations, promises, schema
from tablewright.design.review.facts.fact import Fact, Text


@dataclass(frozen=True, kw_only=True)
class Facts(Fact):
    """All that one design states."""

    name: str
    tables: tuple[schema.Table, ...] = ()
    entities: tuple[schema.Entity, ...] = ()
    indexes: tuple[schema.Index, ...] = ()
    ids: tuple[schema.Id, ...] = ()
    derivations: tuple[schema.Derivation, ...] = ()
    shards: tuple[schema.Shard, ...] = ()
    patterns: tuple[access.Pattern, ...] = ()
    calls: tuple[access.Call, ...] = ()
    invariants: tuple[access.Invariant, ...] = ()
    units_of_work: tuple[access.UnitOfWork, ...] = ()
    machines: tuple[access.StateMachine, ...] = ()
    feeds: tuple[access.Feed, ...] = ()
    triggers: tuple[access.Trigger, ...] = ()
    conflicts: tuple[access.Conflict, ...] = ()
    flows: tuple[access.Flow, ...] = ()
    externals: tuple[access.External, ...] = ()
    locking: tuple[Text, ...] = ()
    retentions: tuple[operations.Retention, ...] = ()
    times: tuple[operations.TimeValue, ...] = ()
    local_times: tuple[operations.LocalTime, ...] = ()
    health_checks: tuple[operations.HealthCheck, ...] = ()
    costs: tuple[operations.Cost, ...] = ()
    unit_counts: tuple[operations.UnitCount, ...] = ()
    prices: tuple[operations.StatedPrice, ...] = ()
    price_list: Text | None = None
    ratios: tuple[operations.Ratio, ...] = ()
    capacities: tuple[operations.Capacity, ...] = ()
    volumes: tuple[operations.Volume, ...] = ()
    limits: tuple[operations.Limit, ...] = ()
    alarms: tuple[operations.Alarm, ...] = ()
    backups: tuple[operations.Backup, ...] = ()
    protections: tuple[operations.Protection, ...] = ()
    budgets: tuple[operations.Budget, ...] = ()
    recovery_points: tuple[operations.RecoveryPoint, ...] = ()
    restores: tuple[operations.Restore, ...] = ()
    replicas: tuple[operations.Replica, ...] = ()
    resources: tuple[operations.Resource, ...] = ()
    modules: tuple[operations.Module, ...] = ()
    tag_sets: tuple[operations.TagSet, ...] = ()
    tools: tuple[operations.Tool, ...] = ()
    statements: tuple[promises.Statement, ...] = ()
    example_items: tuple[promises.Example, ...] = ()
    uses: tuple[promises.Use, ...] = ()
    definitions: tuple[promises.Definition, ...] = ()
    bounds: tuple[promises.Bounds, ...] = ()
    formulas: tuple[promises.Formula, ...] = ()
    copies: tuple[promises.Copy, ...] = ()
    references: tuple[promises.Reference, ...] = ()
    hash_promises: tuple[promises.HashPromise, ...] = ()
    leading_keys: tuple[promises.LeadingKeys, ...] = ()
    page_tokens: tuple[promises.PageToken, ...] = ()
    access_rules: tuple[promises.AccessRule, ...] = ()
    erasures: tuple[promises.Erasure, ...] = ()
    processors: tuple[promises.Processor, ...] = ()
    network_ranges: tuple[promises.NetworkRange, ...] = ()
    stored_inputs: tuple[promises.StoredInput, ...] = ()
    steps: tuple[promises.Step, ...] = ()
    accepted: tuple[promises.Acceptance, ...] = ()


__all__ = ["Fact", "Facts", "Text", "access", "operations", "promises", "schema"]
