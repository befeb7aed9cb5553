"""The packet engine: every packet over every link, in integer picoseconds.

``tables`` holds the state, ``events`` the order of events, ``wire``, ``port`` and ``host``
what happens at each place, ``loop`` the dispatcher, ``simulation`` the door from Python.
Congestion control and load balancing are one file each in ``congestion`` and ``balancing``.
"""
