"""The keys of a run's configuration by section, each with its unit, where it comes from and a default.

"paper" marks a value of EvoEnv (2605.14392) or RACES (2606.12373); all others are ours. How sections must agree is
`cluster.agreement`'s.
"""
