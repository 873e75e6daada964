"""Composition: one process that serves every system, the console and the DynamoDB protocol. See README.md."""
