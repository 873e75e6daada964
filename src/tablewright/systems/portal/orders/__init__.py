"""Orders: what a cart costs, checkout, payment, and what becomes of an order."""
