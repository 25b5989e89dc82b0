"""What must be installed beside Envolve where a pool is asked: the packages that its programs import.

Invariant: a distribution is named with the version that is installed here, because a program that asks another version
may ask another question. A package that belongs to no distribution, such as a folder of the user's, is not named.
"""

import re
from importlib.metadata import packages_distributions, version

from envpool.async_pool import PACKAGES
from envpool.exchange.snapshot import Snapshot

_SEPARATORS = re.compile(r"[-_.]+")  # all alike in a distribution's name (PEP 503)


def requirements(snapshot: Snapshot) -> list[str]:
    """Requirements as pip takes them, sorted."""
    said = (member.evidence.get(PACKAGES) or () for member in snapshot.members.values())
    if not (imported := {module.partition(".")[0] for modules in said for module in modules}):
        return []
    made_by = packages_distributions()  # slow: it reads every distribution's list of files
    found = {distribution for name in imported for distribution in made_by.get(name, ())}
    return sorted(f"{_SEPARATORS.sub('-', each).lower()}=={version(each)}" for each in found)
