"""DynamoDB Streams: shards, iterators and records, read from the journal."""
