"""What each attribute should be, from the best that is known, and what differs from it."""
