"""`tablewright db ...`: tables in a local store, on an endpoint or on AWS."""
