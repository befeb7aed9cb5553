"""Which fabric, and why: compare candidates, flip points, claims put to the test, needs."""
