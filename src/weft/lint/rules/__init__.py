"""One file a rule: what it checks, why it matters, what to do."""
