"""What is observed on a cluster: entities, attributes, events, and the evidence of each."""
