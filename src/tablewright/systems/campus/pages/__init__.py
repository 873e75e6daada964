"""The pages of Campus Cloud, a module per group of pages. area.py puts them together."""
