"""The battery: every attack, by what it is aimed at."""

from attack import Attack
from attacks_on_resources import MEMORY_AND_DEPTH, TIME
from attacks_on_the_channel import CHANNEL, VALUES
from attacks_on_the_kernel import FILES_AND_NET, INTERFACES, LIMITS_AND_MEMORY, PROCESSES
from attacks_on_trust import LIES, PATCHES, SECRETS

ATTACKS: list[Attack] = [
    *TIME, *MEMORY_AND_DEPTH, *CHANNEL, *VALUES, *PROCESSES, *FILES_AND_NET, *LIMITS_AND_MEMORY, *INTERFACES,
    *PATCHES, *SECRETS, *LIES,
]  # fmt: skip
