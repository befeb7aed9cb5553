"""What hosts and switches are called in every file that weft writes, and in those it reads."""

from typing import Final

TIER_NAMES: Final = ("leaf", "spine", "core")


def host(number: int, hosts: int) -> str:
    """Return the name of a host; all names of a cluster are of one length.

    >>> host(7, 1024), host(7, 16)
    ('host-0007', 'host-0007')
    """
    return f"host-{number:0{digits(hosts)}d}"


def switch(tier: int, number: int) -> str:
    """Return the name of a switch.

    >>> switch(1, 3)
    'spine-0003'
    """
    return f"{TIER_NAMES[tier]}-{number:04d}"


def digits(hosts: int) -> int:
    """Return how many digits the number of a host has in its name."""
    return max(4, len(str(hosts - 1)))
