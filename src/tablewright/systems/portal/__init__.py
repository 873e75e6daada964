"""The customer portal: tenants, products, campaigns and orders. See README.md."""
