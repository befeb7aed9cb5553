"""``nvidia-smi nvlink`` and ``nvidia-smi -L``: the GPUs and their scale-up links."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import GpuLink, GpuLinkErrors, GpuSeen, GpuUnreachable
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer

_GIGA = 1e9
_GPU = re.compile(
    r"\s*GPU (?P<index>\d+): (?P<name>.+?) \(UUID: (?P<uuid>[\w.-]+)\)(?P<rest>.*)"
)
_LINK = re.compile(
    r"\s*Link (?P<link>\d+): (?:(?P<rate>[\d.]+) GB/s|<?(?P<inactive>inactive|InActive)>?)"
)
_REMOTE = re.compile(
    r"\s*Link (?P<link>\d+): Remote Device (?P<bus>[0-9A-Fa-f:.]+): Link (?P<other>\d+)\s*$"
)
_ABOUT = re.compile(
    r"\s+(?:NVLE: \w+|Firmware Version:|(?:MSE|NETIR(?: UPHY| CLN| DLN)?): [\d:.]+|"
    r"Link \d+, [A-Z][\w /-]{3,60}: (?:true|false|\d+))\s*$"
)
_ERROR = re.compile(
    r"\s*Link (?P<link>\d+): (?P<name>(?:Replay|Recovery|CRC|[A-Z][\w ]+?)(?: Flit)?"
    r"(?: Data)? Errors?|[A-Z][\w -]+?): (?P<value>\d+)\s*$"
)
_ALL = re.compile(
    r"\s*(?:NVML: )?Unable to retrieve N[Vv][Ll]ink information as all links are in[Aa]ctive"
)
_DCGM_ERRORS = re.compile(
    r"\| (?:GPU (?P<gpu>\d{1,3})\s+\||Link (?P<link>\d{1,2})\s+\|\s+\||(?P<title>NVLINK Error)|"
    r"-> (?P<name>[A-Z][A-Za-z ]{2,30}? Errors?)\s+\| (?P<value>\d{1,20})\s+\||"
    r"-> (?P<other>[A-Z][A-Za-z ]{2,30}?)\s+\|)"
)
_DCGM_SWITCH = re.compile(
    r"\s*(?:physicalId (?P<index>\d+)|GPUs|NvSwitches):|\|\s+NvLink Link Status|Key: Up=U"
)
_DCGM_GPU = re.compile(r"\s*gpuId (?P<index>\d+):")
_DCGM_LINKS = re.compile(r"\s*(?:[UDX_]\s+){3,40}[UDX_]\s*$")
_NONE = re.compile(r".*[Dd]evice does not have or support N[Vv][Ll]ink")
_GONE = re.compile(
    r"Unable to determine the device handle for (?:GPU|gpu) ?(?P<bus>[0-9A-Fa-f:.]+): "
    r"(?P<error>.*)"
)
_ABSENT = re.compile(r"No devices were found|NVIDIA-SMI has failed because (?P<why>.*)")


@dataclass(slots=True)
class _Reader:
    """Reads links, remembering the GPU above."""

    source: Source
    gpu: str = ""
    name: str = ""
    link: int = 0
    of_dcgm: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        gpu = _GPU.match(text)
        if gpu:
            return self._gpu(gpu, text, number)
        link = _LINK.match(text) or _REMOTE.match(text)
        if link:
            return (self._state(link, text, number),)
        none = _NONE.match(text)
        if none or _ALL.match(text):
            return (self._link(None, None, text, number, supported=not none),)
        error = _ERROR.match(text)
        if error:
            return (self._error(error, text, number),)
        gone = _GONE.match(text) or _ABSENT.match(text)
        if gone:
            return self._gone(gone, text, number)
        about = self.gpu and _ABOUT.match(text)
        return READ if about else self._of_dcgm(text, number)

    def _state(self, link: "re.Match[str]", text: str, number: int) -> GpuLink:
        """State a link by its rate, or by what it leads to."""
        rate = link.groupdict().get("rate")
        speed = float(rate) * _GIGA if rate else None
        state = self._link(int(link["link"]), speed, text, number)
        return replace(state, active=True) if "bus" in link.groupdict() else state

    def _of_dcgm(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read what ``dcgmi nvlink -s`` prints: a letter for each link of a GPU."""
        errors = _DCGM_ERRORS.match(text)
        if errors and (self.of_dcgm or errors["title"]):
            return self._of_dcgm_errors(errors, text, number)
        if _DCGM_SWITCH.match(text):
            # A link of a switch that leads nowhere is down; those of GPUs say which matter.
            self.gpu = ""
            return READ
        listed = _DCGM_GPU.match(text)
        if listed:
            self.gpu, self.name = listed["index"], self.name or "sxm"
            return READ
        if not _DCGM_LINKS.match(text):
            return None
        if not self.gpu:
            return READ
        states = [(link, word) for link, word in enumerate(text.split()) if word in {"U", "D"}]
        return tuple(
            replace(self._link(link, None, text, number), active=word == "U")
            for link, word in states
        )

    def _of_dcgm_errors(
        self, found: "re.Match[str]", text: str, number: int
    ) -> Sequence[Fact] | None:
        """Read a row of ``dcgmi nvlink -e``: the GPU, a link, and an error with its count."""
        self.of_dcgm = True
        self.gpu = found["gpu"] or self.gpu
        self.link = int(found["link"]) if found["link"] else self.link
        if not found["name"]:
            return READ
        return (
            GpuLinkErrors(
                gpu=self.gpu,
                link=self.link,
                counter=found["name"].lower().replace(" ", "_"),
                value=int(found["value"]),
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _gpu(self, gpu: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        self.gpu, self.name = gpu["index"], gpu["name"]
        seen = GpuSeen(
            name=gpu["name"],
            index=int(gpu["index"]),
            uuid=gpu["uuid"],
            host=self.source.host,
            evidence=self.source.evidence(text, number),
        )
        if _ALL.match(gpu["rest"].lstrip(" :")):
            return (seen, self._link(None, None, text, number))
        return (seen,)

    def _link(
        self,
        link: int | None,
        rate: float | None,
        text: str,
        number: int,
        *,
        supported: bool = True,
    ) -> GpuLink:
        return GpuLink(
            gpu=self.gpu,
            gpu_name=self.name,
            link=link,
            active=rate is not None,
            rate_bytes_per_s=rate,
            supported=supported,
            host=self.source.host,
            evidence=self.source.evidence(text, number),
        )

    def _error(self, error: "re.Match[str]", text: str, number: int) -> GpuLinkErrors:
        return GpuLinkErrors(
            gpu=self.gpu,
            link=int(error["link"]),
            counter=error["name"].strip().lower().replace(" ", "_"),
            value=integer(error["value"]) or 0,
            host=self.source.host,
            evidence=self.source.evidence(text, number),
        )

    def _gone(self, gone: "re.Match[str]", text: str, number: int) -> Sequence[Fact] | None:
        groups = gone.groupdict()
        if "requires reset" in text:
            return None
        return (
            GpuUnreachable(
                bus_id=groups.get("bus") or "",
                error=groups.get("error") or groups.get("why") or gone[0],
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )


nvidia_smi_nvlink = Parser(
    tool="nvidia-smi nvlink",
    marks=(
        "(UUID: ",
        "all links are",
        "GB/s",
        "inactive",
        "device handle for",
        "NVLink",
        "gpuId",
        "Nvlink",
        "Errors:",
        "NVLINK Error Counts",
        "No devices were found",
        "NVIDIA-SMI has failed",
    ),
    reader=_Reader,
    rank=32,
)
