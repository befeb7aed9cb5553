"""What keeps packets from a host or pod outside its own tables of rules.

Security groups and rules of clouds, policies of networks of pods, meshes of proxies, the logs
of packets that a kernel's filter wrote, and rules that drop with their counters.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import PacketFilter
from weft.observe.parser import READ, Parser, Source

_CLOUD = re.compile(
    r"\bDenyAllIn[Bb]ound\b|DefaultInboundAction\W{1,9}Block|"
    r"(?:\bNSG\b|\bSG\b|(?:security|firewall)[\w -]{0,20}"
    r"(?:group|rule|list|policy)s?\b).{0,120}?"
    r"(?:\b(?:allows?|permits?|opens?|passe?s?)\b(?! (?:all|any|every))[^;.]{0,30}"
    r"(?:\b22\b|\bonly\b|\bbut not\b)|\bclosed\b|\bblock)|"
    r"\b(?:stop|disabl|flush)\w*\W{1,3}(?:the )?(?:firewalld?|ufw|iptables|nftables)\b"
    r"(?!.{0,80}(?:no (?:change|difference|effect)|(?:not|n't) help|\bstill\b))|"
    r"does not (?:name|reference|include|allow) itself|without itself as (?:a )?source",
    re.IGNORECASE,
)
_SPARED = re.compile(
    r"\b(?:not|no|nothing|never|isn't|aren't|doesn't|don't)\b.{0,40}(?:block|closed|drop)",
    re.IGNORECASE,
)
"""What is said of a filter that was looked at and is not to blame."""
_SSH_ONLY = re.compile(r"\btcp/22\b|\"FromPort\": 22\b")
_ALL = re.compile(r"IpProtocol\W{1,5}-1|\ball traffic\b", re.IGNORECASE)
_EGRESS = re.compile(r"IpPermissionsEgress.*")
_POLICY = re.compile(
    r"Allowing ingress traffic:|rbac_access_denied|\bDENY (?:Global)?NetworkPolicy|"
    r"calico-packet: IN=",
)
_DENIES = re.compile(r"\s*(?:[\w-]+\s+)?(?:\w+[-_])*(?:deny|isolat\w+)(?:[-_]\w+)*\s")
_STRICT = re.compile(r"\s*(?:mode:\s*)?[\"']?STRICT[\"']?\s*$")
_ASKED_POLICY = re.compile(r"\b(?:netpol|networkpolic|authorizationpolic)")
_ASKED_MESH = re.compile(r"\bpeerauthentication")
_ASKED_GROUP = re.compile(r"describe-security-groups|security-group|IpPermissions")
_LOGGED = re.compile(r"(?:\b|_)(?:drop|reject|deny|block)\w*\W{1,4}.{0,40}\bIN=\S* OUT=\S* "
                     r".{0,300}PROTO=(?:TCP|UDP)", re.IGNORECASE)  # fmt: skip
_NOISE = re.compile(
    r"\bSRC=0\.0\.0\.0\b|\bDST=(?:22[4-9]|23\d)\.|\bDST=[\d.]+\.255\b|\bDST=ff0|"
    r"\bDPT=(?:22|23|25|53|67|68|80|111|123|13[789]|161|443|445|1900|3389|535[35])\b"
)
"""What every host of a network hears and drops: to all, or to services that none of it is."""
_COUNTED = re.compile(
    r"\s*(?!0\s)[\d.]+[KMGT]?\s+[\d.]+[KMGT]?\s+(?P<policy>DROP|REJECT)\s+"
    r"(?:tcp|udp|all|6|17|0)\s+--\s"
)


@dataclass(slots=True)
class _Reader:
    """Reads line by line; what was asked decides what a name or a word means."""

    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the filter that a line tells of."""
        found = self._kind(text)
        if not found:
            return None
        chain, policy = found
        evidence = self.source.evidence(text, number)
        return (
            PacketFilter(chain=chain, policy=policy, host=self.source.host, evidence=evidence),
        )

    def _kind(self, text: str) -> tuple[str, str] | None:
        """Return which filter it is, and what it does."""
        counted = _COUNTED.match(text)
        if counted or (_LOGGED.search(text) and not _NOISE.search(text)):
            return "INPUT", counted["policy"] if counted else "DROP"
        told = _CLOUD.search(text) and not _SPARED.search(text)
        if told or self._ssh_only(text):
            return "security group", "DROP"
        if _POLICY.search(text) or self._denies(text):
            return "network policy", "DROP"
        return None

    def _ssh_only(self, text: str) -> bool:
        """Return whether a security group passes its own packets for logins only."""
        inward = _EGRESS.sub("", text)
        group = _ASKED_GROUP.search(f"{self.source.command} {text}")
        return bool(group and _SSH_ONLY.search(inward)) and not _ALL.search(inward)

    def _denies(self, text: str) -> bool:
        """Return whether an object that was asked for is one that keeps others out."""
        command = self.source.command
        if _ASKED_MESH.search(command) and _STRICT.match(text):
            return True
        return _ASKED_POLICY.search(command) is not None and _DENIES.match(text) is not None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


packet_filters = Parser(
    tool="packet filters of clouds and clusters",
    marks=("enyAllIn", "DefaultInboundAction", "ecurity", "SECURITY", "NSG", "SG ", "irewall",
           "IpPerm", "iptables", "nftables", "ufw", "IpProtocol", "calico-packet",
           "etworkPolicy", "Allowing ingress", "rbac_access",
           "netpol", "networkpolic", "authorizationpolic", "peerauthentication", "PROTO=",
           "DROP", "REJECT", "itself"),
    reader=_Reader,
    rank=90,
)  # fmt: skip
