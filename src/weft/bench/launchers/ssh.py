"""Over ssh, with the keys and the configuration that the user has.

The shell of the far host reads what ssh sends, so every word is quoted for it.
"""

from weft.bench.launcher import Launcher
from weft.collect.reach import over_ssh

_OPTIONS = ("-o", "LogLevel=ERROR")

ssh = Launcher(
    title="over ssh",
    takes="[user@]host",
    on=lambda host, command: over_ssh(host, command.through_env(), *_OPTIONS),
)
