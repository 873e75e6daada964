"""The one error of this package: an expression the service refuses."""


class BadExpression(ValueError):
    """An expression, or a legacy parameter, that DynamoDB does not take; the text is the service's."""
