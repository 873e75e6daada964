"""What the design checker finds and this design accepts, with the reasons."""

from tablewright.systems.travel.design.base import TRAVEL

TRAVEL.accept(
    "CAP-SIZE",
    "it grows with what people enter for one item, not with use; a write over 400 KB is refused",
    "change.trip_days",
    "operation.entity_data",
    "operation_receipt.entities",
    "operation_receipt.parts",
    "operation_receipt.result",
    "profile.logins",
    "visit.trips",
)
TRAVEL.accept(
    "CAP-SIZE",
    "it holds the fields of one item or of one request, which have their own limits",
    "audit.before",
    "audit.details",
    "operation.conflict_details",
)
TRAVEL.accept("CAP-SIZE", "the values of one template, which names them", "message.values")
TRAVEL.accept(
    "CAP-SIZE",
    "one entry for each of a fixed set: hours, types, guardrails, scopes, places in the world",
    "profile.stamps",
    "statistic.continents_visited",
    "statistic.marks",
    "statistic.recent_visits",
    "visit.stamps",
)
TRAVEL.accept(
    "KEY-PII",
    "a keyed hash of the address, never the address",
    "email_identity.email_hmac",
    "profile.email_hmac",
)
TRAVEL.accept(
    "KEY-PII",
    "an opaque id of the provider of the login or of a traveller",
    "identity.provider_id",
    "profile.auth_provider_id",
    "block.blocked_id",
)
TRAVEL.accept(
    "IDX-LOWCARD",
    "1 write a second into its table: the outbox is enough until 17 000 times the load (docs/scale.md)",
    "message.GSI1PK",
)
TRAVEL.accept(
    "IDX-LOWCARD",
    "reference data, which changes yearly: the names of regions and their aliases, by kind of region",
    "region.GSI1PK",
    "region_alias.GSI1PK",
)
TRAVEL.accept(
    "CC-NOVERSION",
    "a change is refused unless the values that it replaces are as they were read",
    "message",
    "operation",
)
