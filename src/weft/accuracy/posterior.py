"""Whether stated probabilities are too bold or too shy: the scale of their logarithmic odds.

A stated probability p with odds o is read as odds o**s. Of all scales s the one with the
smallest logarithmic loss is fitted; s = 1 says that what is stated is right on average, s < 1
that it is too bold. The loss is compared on cases that the fit has not seen, one at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Final

_SCALES: Final = tuple(round(0.3 + 0.05 * step, 2) for step in range(55))
_BOUND: Final = 1e-3
"""Stated probabilities are kept so far from 0 and 1, where the loss has no bound."""
_FEWEST: Final = 20
"""Fewer findings say nothing of a scale."""

_NOTICED_RATIO: Final = 0.05
"""A smaller gain is not worth another parameter."""

Stated = Sequence[tuple[float, bool]]
"""Findings of one case: the probability stated, and whether it was right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The scale that fits best, and what it gains on cases left out."""

    best: float
    loss_as_stated: float
    """Mean logarithmic loss of a finding, in nats."""
    loss_left_out: float
    """The same where each case is scaled as the other cases ask for."""
    findings: int

    @property
    def helps(self) -> bool:
        """Return whether scaling is clearly better than what is stated, on cases left out."""
        return self.loss_left_out < self.loss_as_stated * (1 - _NOTICED_RATIO)


def scale(cases: Sequence[Stated]) -> Scale | None:
    """Return the scale of the stated odds, or None where there are too few findings.

    >>> bold = [[(0.99, True)]] * 15 + [[(0.99, False)]] * 10
    >>> scale(bold).best < 0.5, scale(bold).helps, scale([]) is None
    (True, True, True)
    """
    findings = sum(map(len, cases))
    if findings < _FEWEST:
        return None
    losses = [[_loss(case, by) for by in _SCALES] for case in cases]
    total = [sum(of) for of in zip(*losses, strict=True)]
    left_out = 0.0
    for mine in losses:
        others = [whole - own for whole, own in zip(total, mine, strict=True)]
        left_out += mine[others.index(min(others))]
    return Scale(
        best=_SCALES[total.index(min(total))],
        loss_as_stated=sum(_loss(case, 1.0) for case in cases) / findings,
        loss_left_out=left_out / findings,
        findings=findings,
    )


def _loss(case: Stated, by: float) -> float:
    return sum(-log(_scaled(ratio, by) if right else 1 - _scaled(ratio, by))
               for ratio, right in case)  # fmt: skip


def _scaled(ratio: float, by: float) -> float:
    bounded = min(max(ratio, _BOUND), 1 - _BOUND)
    return 1 / (1 + exp(-by * log(bounded / (1 - bounded))))
