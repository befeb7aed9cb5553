"""Over ssh, with the keys and the configuration that the user has."""

from weft.collect.way import SHELL, Way, host_name

_QUIETLY = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=10")


def _words(host: str) -> tuple[str, ...]:
    return ("ssh", *_QUIETLY, "--", host_name(host), " ".join(SHELL))


ssh = Way(title="over ssh", takes="[user@]host", words=_words)
