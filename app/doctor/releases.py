"""Whether all replicas run the same release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from app.doctor.finding import Check, Fault, Severity
from app.doctor.replicas import ask_all
from app.doctor.subject import Subject


async def _look(subject: Subject) -> Sequence[Fault]:
    by_release: defaultdict[str, list[str]] = defaultdict(list)
    for name, told in (await ask_all(subject)).items():
        by_release[told.about["release"]].append(name)
    if len(by_release) == 1:
        return []
    told_all = "; ".join(f"{release}: {', '.join(names)}" for release, names in sorted(by_release.items()))
    return [
        Fault(
            severity=Severity.WARNING,
            what=f"replicas run different releases ({told_all})",
            mend="finish the rollout with chopho restart --rolling, or roll it back",
        )
    ]


RELEASES = Check(
    name="releases",
    why="two releases side by side work during a rollout and are tested for that alone; left so, shoppers see "
    "the old and the new shop by turns, and the next migration may end the old one",
    look=_look,
)
