"""From what was seen on a cluster to what is wrong with it.

``diagnose(facts)`` asks every rule, folds consequences under their cause and ranks the rest.
"""
