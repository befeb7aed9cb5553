"""Over ssh, with the keys and the configuration that the user has."""

from weft.collect.reach import over_ssh
from weft.collect.way import SHELL, Way

ssh = Way(title="over ssh", takes="[user@]host", words=lambda host: over_ssh(host, SHELL))
