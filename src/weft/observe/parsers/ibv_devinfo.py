"""``ibv_devinfo`` (with or without ``-v``): ports with their MTU, LIDs and GID tables."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.adapters import AdapterPort, AdapterSeen, Gid
from weft.observe.facts.base import Evidence, Fact
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, layer, physical, state

_ADAPTER = re.compile(r"\s*(?:h?ca_id|hca_id):\s*(?P<name>\S+)")
_PORT = re.compile(r"\s*port:\s*(?P<port>\d+)")
_GID = re.compile(
    r"\s*GID\[\s*(?P<index>\d+)\]:\s*(?P<gid>[0-9a-fA-F:.]+)(?:,? *(?P<version>RoCE v"
    r"\d|IB/RoCE v1|IB))?"
)
_FIELD = re.compile(
    r"\s*+(?P<name>transport|fw_ver|node_guid|sys_image_guid|vendor_id|vendor_part_id|hw_ver|"
    r"board_id|phys_port_cnt|state|max_mtu|active_mtu|sm_lid|port_lid|port_lmc|link_layer|"
    r"phys_state|active_width|active_speed|sm_sl|max_msg_sz|port_cap_flags2?|max_vl_num|"
    r"bad_pkey_cntr|qkey_viol_cntr|pkey_tbl_len|gid_tbl_len|subnet_timeout|init_type_reply|"
    r"max_mr_size|page_size_cap|max_qp\w*|max_mr\w*|max_cq\w*|max_sge\w*|device_cap_flags\w*|"
    r"atomic_cap|local_ca_ack_delay|max_\w+|odp_caps|\w+_caps?|\w+_odp\w*)\s*+:\s*+"
    r"(?P<value>.*?)\s*$"
)
_ASKED = re.compile(r"\bibv_devinfo .{0,40}?-d ?(?P<name>[\w.-]{2,40})")
_HEADING = re.compile(r"(?P<host>[A-Za-z][\w.-]{0,60}):\s*$")
"""The name of a host, or of an adapter, above a table of its own."""
_OF_ADAPTER = re.compile(
    r"(?:mlx[45]|bnxt_re|irdma|roce|ib[ps]?\d|qedr|rdmap|rxe|hns|ionic|erdma|efa|mana|hfi)"
)
_VERSIONS = {"RoCE v1": 1, "IB/RoCE v1": 1, "RoCE v2": 2}


@dataclass(slots=True)
class _Reader:
    """Gathers the fields of a port until the next begins."""

    source: Source
    adapter: str = ""
    port: int | None = None
    fields: dict[str, str] = field(default_factory=dict)
    where: Evidence | None = None
    heading: tuple[str, int] = ("", 0)
    titled: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the adapter, GID or port that a line completes."""
        opens = _ADAPTER.match(text)
        if opens:
            done = tuple(self.end())
            self.adapter, self.where = opens["name"], self.source.evidence(text, number)
            return done
        port = _PORT.match(text)
        if port and self.adapter:
            done = tuple(self._done())
            self.port, self.where = int(port["port"]), self.source.evidence(text, number)
            return done
        gid = _GID.match(text)
        if gid:
            if self.heading[1] == number - 1 and not self.adapter:
                self._headed(self.heading[0])
            return (self._gid(gid, text, number),)
        if text.rstrip().endswith(":") and (heading := _HEADING.match(text)):
            self.heading = heading["host"], number
        found = _FIELD.match(text)
        if not found:
            return None
        if self.where is None or found["name"] in {"state", "active_mtu"}:
            self.where = self.source.evidence(text, number)
        self.fields[found["name"]] = found["value"]
        return READ

    def end(self) -> Iterable[Fact]:
        """State the last port."""
        done = self._done()
        self.adapter, self.port = "", None
        return done

    def _headed(self, name: str) -> None:
        """Take the name above a table of GIDs for the adapter's or the host's."""
        if _OF_ADAPTER.match(name):
            self.titled = name
        else:
            self.source.arrive(name)

    def _gid(self, found: "re.Match[str]", text: str, number: int) -> Gid:
        gid = found["gid"].removeprefix("::ffff:")
        asked = _ASKED.search(self.source.command)
        return Gid(
            adapter=self.adapter or (asked["name"] if asked else self.titled),
            port=self.port or 1,
            index=int(found["index"]),
            gid=found["gid"],
            version=_VERSIONS.get(found["version"] or ""),
            ipv4=gid if gid.count(".") == 3 else "",  # noqa: PLR2004 - dots of an address
            host=self.source.host,
            evidence=self.source.evidence(text, number),
        )

    def _done(self) -> Sequence[Fact]:
        fields, self.fields = self.fields, {}
        where, self.where = self.where, None
        if where is None:
            return ()
        facts: tuple[Fact, ...] = ()
        if "fw_ver" in fields:
            facts = (
                AdapterSeen(
                    adapter=self.adapter,
                    kind=fields.get("board_id", ""),
                    firmware=fields["fw_ver"],
                    guid=fields.get("node_guid", ""),
                    ports=integer(fields.get("phys_port_cnt")),
                    host=self.source.host,
                    evidence=where,
                ),
            )
        if fields.keys() & {"state", "active_mtu", "link_layer"}:
            facts = (*facts, self._port(fields, where))
        return facts

    def _port(self, fields: dict[str, str], where: Evidence) -> AdapterPort:
        return AdapterPort(
            adapter=self.adapter,
            port=self.port,
            state=state(fields.get("state", "")),
            physical_state=physical(fields.get("phys_state", "")),
            link_layer=layer(fields.get("link_layer", "")),
            rate_text=" ".join(
                fields[name] for name in ("active_width", "active_speed") if name in fields
            ),
            lid=integer(fields.get("port_lid")),
            sm_lid=integer(fields.get("sm_lid")),
            active_mtu_bytes=integer(fields.get("active_mtu")),
            max_mtu_bytes=integer(fields.get("max_mtu")),
            host=self.source.host,
            evidence=where,
        )


ibv_devinfo = Parser(
    tool="ibv_devinfo",
    marks=(
        "hca_id:",
        "ca_id:",
        "active_mtu",
        "port_lid",
        "link_layer:",
        "phys_port_cnt",
        "GID[",
        "PORT_ACTIVE",
        "PORT_DOWN",
        "PORT_INIT",
    ),
    reader=_Reader,
    rank=30,
)
