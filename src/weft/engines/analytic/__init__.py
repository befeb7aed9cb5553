"""The closed forms: collectives and the training step, in milliseconds."""
