"""Which tasks are set apart for evaluation: never trained on, and whoever copies one falls as contamination.

One or two of a category, of those that the gates let in, chosen so that no other task of theirs, no task of RLVE-Gym
(of its 400 environments, compared by their names), no seed and no brick of ours asks the same thing by another name:
what a policy learns of them it has learnt elsewhere. So games have none: of the six that the gates let in RLVE-Gym asks
five, and mahjong_puzzle came in after the list was made. The list is fixed, so that figures of different runs may be
compared; with another task it is another benchmark.
"""

HELD_OUT = (
    "aiw",  # logic: Alice's sisters and brothers
    "arc_1d",  # arc
    "complex_arithmetic",  # algebra
    "dice",  # arithmetic: probabilities
    "family_relationships",  # graphs
    "figlet_font",  # cognition
    "leg_counting",  # arithmetic: of animals
    "simple_geometry",  # geometry
    "string_manipulation",  # algorithmic: rules that rewrite a text until none applies
    "string_synthesis",  # algorithmic: rules that turn blocks into others
)
