"""`tablewright deploy ...`: make the tables of an environment what the design says, without Terraform."""
