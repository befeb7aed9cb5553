"""Questions to a Prometheus server, over its HTTP API (/api/v1/query and /query_range)."""

import json
import math
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from weft.errors import SpecError, Unreadable

_TIMEOUT_S: Final = 60.0
_MOST_BYTES: Final = 256 << 20
"""Of one answer: memory stays bounded whoever answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """One series: its labels, and values with their times in seconds since 1970."""

    labels: Mapping[str, str]
    values: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prometheus:
    """A server, by the address that people open in a browser."""

    url: str

    def __post_init__(self) -> None:
        """Raise SpecError for what is no address of a web server."""
        if not self.url.startswith(("http://", "https://")):
            raise SpecError(f"--prometheus {self.url}: write it as http://prometheus:9090")

    def now(self, query: str, at_s: float) -> list[Samples]:
        """Return each series of a query at one time; values that are no number are left out."""
        found = self._asked("query", {"query": query, "time": f"{at_s:.3f}"})
        return [one for row in found if (one := _samples(row["metric"], [row["value"]])).values]

    def over(self, query: str, begin_s: float, end_s: float, step_s: float) -> list[Samples]:
        """Return each series of a query from one time to another."""
        times = {"start": f"{begin_s:.3f}", "end": f"{end_s:.3f}", "step": f"{step_s:g}"}
        found = self._asked("query_range", {"query": query, **times})
        return [_samples(row["metric"], row["values"]) for row in found]

    def _asked(self, what: str, words: Mapping[str, str]) -> list[Any]:
        address = f"{self.url.rstrip('/')}/api/v1/{what}"
        body = urllib.parse.urlencode(words).encode()
        try:
            # The scheme is checked above.
            with urllib.request.urlopen(address, body, _TIMEOUT_S) as answer:  # noqa: S310
                told = json.loads(answer.read(_MOST_BYTES))
            return list(told["data"]["result"])
        except urllib.error.HTTPError as error:
            said = error.read(_MOST_BYTES).decode(errors="replace").strip()
            raise Unreadable(f"{address}: {error.code} {error.reason}: {said[:300]}") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            why = getattr(error, "reason", error)  # of URLError: the failure itself
            raise Unreadable(
                f"{address}: no answer of a Prometheus server ({why}); check the address"
            ) from error


def _samples(labels: Mapping[str, str], values: list[Any]) -> Samples:
    numbers = ((float(time), float(value)) for time, value in values)
    return Samples(
        labels=labels, values=tuple(number for number in numbers if math.isfinite(number[1]))
    )
