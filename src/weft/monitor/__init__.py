"""What a host shows of its network as metrics of Prometheus, beside what it should show."""
