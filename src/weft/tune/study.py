"""The search itself: Optuna's study in memory or in a file, asked in batches.

The sampler of a batch begins from the seed and the number of the batch, so a study that was
interrupted and taken up again asks for the same values as one that was not, and the number
of threads changes nothing.
"""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from weft.errors import SpecError, WeftError
from weft.tune.knob import Knob, Scale
from weft.tune.objective import Objective
from weft.tune.space import Space, Values

BATCH: Final = 8
"""Trials asked for before any of them is told: what parallel threads work on."""
STARTUP: Final = 16
"""Trials at random before the sampler learns from them."""
_NAME: Final = "weft"
_ASKS_OF: Final = "asks_of"


class Study:
    """Trials of one search; all access is from one thread."""

    def __init__(
        self,
        space: Space,
        objectives: Mapping[str, Objective],
        *,
        asks_of: str,
        seed: int,
        first: Sequence[Values],
        file: Path | None = None,
    ) -> None:
        """Open a study, or go on with that of a file.

        ``asks_of`` is the digest of the task, ``first`` what is tried before anything else.
        """
        self._optuna = _optuna()
        self.space, self.seed = space, seed
        self.names = tuple(objectives)
        directions = [
            "maximize" if o.more_is_better else "minimize" for o in objectives.values()
        ]
        self._study = self._opened(directions, file)
        self._check(asks_of, file)
        if not self._study.get_trials(deepcopy=False):
            for values in first:
                self._study.enqueue_trial({n: self._inside(n, v) for n, v in values.items()})

    def _opened(self, directions: Sequence[str], file: Path | None) -> Any:  # noqa: ANN401 - optuna's
        storage = None if file is None else f"sqlite:///{file}"
        try:
            return self._optuna.create_study(
                storage=storage, study_name=_NAME, directions=list(directions),
                load_if_exists=True,
            )  # fmt: skip
        except Exception as error:  # SQLAlchemy's many
            reason = str(getattr(error, "orig", error)).partition("\n")[0]
            raise SpecError(
                f"{file}: is no study that can be read or written: {reason}; name another file"
            ) from error

    def _check(self, asks_of: str, file: Path | None) -> None:
        known = self._study.user_attrs.get(_ASKS_OF)
        if known is None:
            self._study.set_user_attr(_ASKS_OF, asks_of)
        elif known != asks_of:
            raise SpecError(
                f"{file}: holds a study of other scenarios, knobs, objectives or seeds; give "
                "another file, or the words that it was begun with"
            )

    @property
    def done(self) -> list[tuple[int, Values, Values]]:
        """Trials that were judged: number, values of the knobs, scores by objective."""
        return [
            (t.number, self._outside(t.params), dict(zip(self.names, t.values, strict=True)))
            for t in self._trials("COMPLETE")
        ]

    def ask(self, trials: int) -> list[tuple[int, Values]]:
        """Return the next batch: what an interruption left open, or new values."""
        if open_ := self._trials("RUNNING"):
            return [(item.number, self._outside(item.params)) for item in open_]
        asked = len(self._study.get_trials(deepcopy=False)) - len(self._trials("WAITING"))
        self._study.sampler = self._sampler(asked // BATCH)
        # The first batches may have been cut short by --trials: fill them up first.
        count = min(BATCH - asked % BATCH, trials - asked)
        fixed = {name: self._distribution(knob) for name, knob in self.space.knobs.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what optuna calls experimental is seeded too
            new = [self._study.ask(fixed_distributions=fixed) for _ in range(max(0, count))]
        return [(trial.number, self._outside(trial.params)) for trial in new]

    def tell(self, number: int, scores: Values) -> None:
        """Note how a trial was judged."""
        self._study.tell(number, [scores[name] for name in self.names])

    def _trials(self, state: str) -> list[Any]:
        states = (self._optuna.trial.TrialState[state],)
        return list(self._study.get_trials(deepcopy=False, states=states))

    def _sampler(self, batch: int) -> Any:  # noqa: ANN401 - as above
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as above
            return self._optuna.samplers.TPESampler(
                seed=self.seed * 1_000_003 + batch, n_startup_trials=STARTUP, constant_liar=True
            )

    def _distribution(self, knob: Knob) -> Any:  # noqa: ANN401 - as above
        of = self._optuna.distributions
        if knob.scale is Scale.WHOLE:
            return of.IntDistribution(int(knob.low), int(knob.high))
        if knob.scale is Scale.DOUBLING:
            return of.IntDistribution(_exponent(knob.low), _exponent(knob.high))
        return of.FloatDistribution(knob.low, knob.high, log=knob.scale is Scale.LOG)

    def _inside(self, name: str, value: float) -> float:
        scale = self.space.knobs[name].scale
        if scale is Scale.DOUBLING:
            return _exponent(value)
        return int(value) if scale is Scale.WHOLE else value

    def _outside(self, params: Mapping[str, float]) -> Values:
        """Return values as knobs take them: tidy, powers of two written out."""
        knobs = self.space.knobs
        return {
            name: knobs[name].tidy(
                2.0**value if knobs[name].scale is Scale.DOUBLING else float(value)
            )
            for name, value in params.items()
            if name in knobs
        }


def _exponent(value: float) -> int:
    from math import log2  # noqa: PLC0415 - one line needs it

    return round(log2(value))


def _optuna() -> Any:  # noqa: ANN401 - as above
    """Import optuna when a search begins: few commands need it, and it is an extra."""
    try:
        import optuna  # noqa: PLC0415 - 0.3 s
    except ImportError as error:
        raise WeftError("weft tune needs optuna: pip install 'weft[tune]'") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
