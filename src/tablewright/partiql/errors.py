"""The one error of this package: a statement the service refuses."""

from tablewright.expressions import BadExpression

NOT_WELL_FORMED = "Statement wasn't well formed, can't be processed: "


class BadStatement(BadExpression):
    """A PartiQL statement that DynamoDB does not take; the text is the service's."""


def not_well_formed(detail: str = "") -> BadStatement:
    """A text the parser cannot read. For text that is not a token the service gives no detail."""
    return BadStatement(NOT_WELL_FORMED + detail)
