"""Flow engine: weighted max-min fair rates over routed links, from event to event.

A flow is fluid: it has one rate, and uses every link of its path at that rate times a weight.
Queues, pauses and packets do not exist here; use the packet engine for those.
"""
