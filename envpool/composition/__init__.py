"""Composition: chains of typed programs fused into new verifiable environments (RACES, arXiv 2606.12373).

`operators` turns executed chains into one question and its slot verdicts into one score, `search` finds
chains that run, `composer` makes members of them. Nothing here touches the pool: members go in, members
come out.
"""
