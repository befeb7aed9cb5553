"""What an input is: something that may turn out otherwise than the spec says."""

from collections.abc import Callable
from dataclasses import dataclass

from weft.advise.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One number that moves; what each candidate's tokens cost when it stands elsewhere."""

    title: str
    unit: str
    current: Callable[[Case], float]
    span: Callable[[Case], tuple[float, float]]
    """The range that is searched: what has been seen or published."""
    usd_per_1t_tokens: Callable[[Case, str, float], float]
    """Cost for a candidate by name; raises a WeftError where it cannot be built so."""
    source: str
    """Where the range comes from."""
    snap: Callable[[Case, float], float] = lambda _, value: value
    """Nearest value that can be: whole GPUs, whole batches."""
    choices: tuple[float, ...] = ()
    """The only values that exist, where it cannot take any in between; ascending."""
    logarithmic: bool = True
    steps: int = 6
    """Halvings of the range; inputs that need no new prediction can afford many."""
    applies: Callable[[Case], bool] = lambda _: True
    evidence: str = "computed by the analytic engine"
