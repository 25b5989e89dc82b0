"""Which tasks are set apart for evaluation: never trained on, and whoever copies one falls as contamination.

One or two of each of their categories that the gates let in, chosen so that no other task of theirs, no seed and no
brick of ours asks the same thing by another name: what a policy learns of them it has learnt elsewhere. The list is
fixed, so that figures of different runs may be compared; a task that leaves it is another benchmark.
"""

HELD_OUT = (
    "aiw",  # logic: Alice's sisters and brothers
    "arc_1d",  # arc
    "complex_arithmetic",  # algebra
    "cryptarithm",  # algorithmic
    "dice",  # arithmetic: probabilities
    "family_relationships",  # graphs
    "figlet_font",  # cognition
    "knights_knaves",  # logic
    "simple_geometry",  # geometry
    "survo",  # games
)
