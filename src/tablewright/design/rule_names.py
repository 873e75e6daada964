"""The names of the rules of the design checker, for a design that accepts what one of them finds.

Must hold: they are those of review/, which reads designs and so cannot be imported by them; a test compares both.
"""

from difflib import get_close_matches

from tablewright.design.errors import DesignMistake

RULE_NAMES = (
    "CAP-LIMITFACT", "CAP-MODE", "CAP-SIZE", "CAP-UNITS", "CAP-VOLUME", "CC-CACHE-FIRST", "CC-CHECK-ACT", "CC-CLOCK",
    "CC-DEDUP", "CC-HOTITEM", "CC-MASKED", "CC-MODULO", "CC-MONOTONE", "CC-NOVERSION", "CC-REGION", "CC-RMW",
    "CC-SPLIT", "CC-STATE", "CC-STATE-MAP", "CC-UNION", "CC-UNIQUE", "CC-VOLATILE", "COST-ARITH", "COST-BACKUPS",
    "COST-FANOUT", "COST-PRICE", "COST-RATIO", "COST-READPRICE", "COST-SIZE", "DENORM-STALE", "DOC-CONTRADICT",
    "DOC-ENUM", "DOC-EXAMPLE", "DOC-RANGE", "DOC-UNDECLARED", "DOC-UNDEFINED", "EXPR-BATCH-CONDITION", "EXPR-BLINDPUT",
    "EXPR-CONSISTENCY", "EXPR-COUNTER", "EXPR-DUPLICATE", "EXPR-FLOAT", "EXPR-GET", "EXPR-GHOST", "EXPR-INCOMPLETE",
    "EXPR-LIMIT-FILTER", "EXPR-NONEKEY", "EXPR-NOPAGE", "EXPR-NULLVALUE", "EXPR-OVERLAP", "EXPR-PARENT",
    "EXPR-RESERVED", "EXPR-SCAN", "EXPR-TX", "EXPR-UNTYPED", "IAC-ARGUMENT", "IAC-DANGLING", "IAC-INCOMPLETE",
    "IAC-MODULE", "IAC-TAGS", "IAC-TOOL", "ID-ENTROPY", "ID-PARSE", "ID-SEQUENCE", "IDX-AMPLIFY", "IDX-CONFLICT",
    "IDX-DUPLICATE", "IDX-FILTERED", "IDX-GSI-WCU", "IDX-LEAK", "IDX-LIMITS", "IDX-LOWCARD", "IDX-LSI", "IDX-MISSING",
    "IDX-NOT-SPARSE", "IDX-ONE-AT-A-TIME", "IDX-OVEREXPOSE", "IDX-POPULAR", "IDX-PROJECTION-UNSTATED", "IDX-STRONG",
    "IDX-UNNAMED", "IDX-UNUSED", "IDX-WRONG-SORT", "KEY-CASE", "KEY-COLLISION", "KEY-DELIMITER", "KEY-EMPTY",
    "KEY-IMMUTABLE", "KEY-NAME", "KEY-NULLABLE", "KEY-ORDER", "KEY-PAD", "KEY-PII", "KEY-PREFIX", "KEY-SECOND-ID",
    "KEY-SIZE", "KEY-TIME-ONLY", "KEY-TYPE", "KEY-UNDEFINED", "KEY-UNREACHABLE", "MIG-CDC", "MIG-FALLBACK",
    "MIG-FIELDS", "MIG-RETAIN", "MIG-TARGET", "NET-OVERBLOCK", "OPS-ALARM", "OPS-BACKUP", "OPS-METRIC", "OPS-REPLICA",
    "OPS-RESTORE", "OPS-RPO", "OPS-UNPROTECTED", "REF-DANGLING", "SCHED-MISSING", "SEC-COPYAUTH", "SEC-ENUMERATE",
    "SEC-ERASE", "SEC-HASH", "SEC-LEADKEY", "SEC-MASSASSIGN", "SEC-PROMPT", "SEC-STATUS", "SEC-THIRDPARTY",
    "SEC-TOKEN", "SHARD-NOOP", "SHARD-UNSTABLE", "TIME-NAIVE", "TIME-OVERNIGHT", "TIME-WIDTH", "TIME-ZONE",
    "TTL-ATTRIBUTE", "TTL-CONFLICT", "TTL-HANDLE", "TTL-MARGIN", "TTL-NONE", "TTL-PARENT", "TTL-PROMPT", "TTL-RESTART",
)  # fmt: skip


class RuleUnknown(DesignMistake):
    """A finding of a rule is accepted that does not exist."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.near = next(iter(get_close_matches(name.upper(), RULE_NAMES, 1)), "")
        advice = f"did you mean {self.near}?" if self.near else "docs/rules.md lists them"
        super().__init__(f"no rule is named '{name}', so nothing is accepted by it; {advice}")
