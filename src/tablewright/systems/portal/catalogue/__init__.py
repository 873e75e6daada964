"""What is sold: products, campaigns, and what each product cost when."""
