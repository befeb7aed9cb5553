"""Linux hosts: NIC quality of service, MTU, addresses and limits, as systemd units."""

from weft.generate.host_files import host_files
from weft.generate.target import declared

linux_host = declared("linux_host", files=host_files)
