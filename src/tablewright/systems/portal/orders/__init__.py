"""Orders: prices of a cart, checkout, payment, cancellation, expiry and refunds."""
