"""CloudWatch's metrics: collected per minute, stored, queried and printed for Prometheus."""
