"""The predictions that advice asks for, each made once."""

from collections.abc import Callable
from dataclasses import dataclass, field

from weft.predict.training import Prediction, predict
from weft.spec.cluster import Cluster
from weft.spec.workload import Job


@dataclass(frozen=True, slots=True)
class Oracle:
    """Answers by predict(), remembered for as long as one piece of advice is being made."""

    ask: Callable[[Cluster, Job], Prediction] = predict
    asked: dict[str, Prediction] = field(default_factory=dict)

    def predict(self, cluster: Cluster, job: Job) -> Prediction:
        """Predict, or return the same prediction again."""
        key = cluster.model_dump_json() + job.model_dump_json()
        if key not in self.asked:
            self.asked[key] = self.ask(cluster, job)
        return self.asked[key]

    @property
    def calls(self) -> int:
        """How many predictions were made."""
        return len(self.asked)
