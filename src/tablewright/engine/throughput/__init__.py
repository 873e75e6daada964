"""Provisioned and on-demand throughput: token buckets and autoscaling."""
