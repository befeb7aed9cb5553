"""What an input is: something that may turn out otherwise than the spec says."""

from collections.abc import Callable
from dataclasses import dataclass

from weft.advise.case import Case
from weft.advise.wording import figure


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
    choices: Callable[[Case], tuple[float, ...]] = lambda _: ()
    """The only values that exist, where it cannot take any in between; ascending."""
    label: Callable[[Case, float], str] | None = None
    """The name of a value that is a place in a list."""
    confirmed: Callable[[Case, str, float], float] | None = None
    """The same cost by a longer search, which what changes the recommendation must pass."""
    logarithmic: bool = True
    steps: int = 6
    """Halvings of the range; inputs that need no new prediction can afford many."""
    applies: Callable[[Case], bool] = lambda _: True
    evidence: str = "computed by the analytic engine"

    def shown(self, case: Case, value: float) -> str:
        """Return a value as text with its unit."""
        return self.label(case, value) if self.label else figure(value, self.unit)
