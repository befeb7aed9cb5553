"""What times traffic on a network: closed forms, and every packet."""
