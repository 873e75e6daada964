"""Models of requests and responses: requests have only what a caller may set, responses also computed fields."""
