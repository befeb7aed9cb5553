"""Which fabric, and why: compare candidates, break-even points, claims tested, needs."""
