"""Composition: chains of typed programs fused into new verifiable environments (RACES, arXiv 2606.12373).

`fusion` says what fits, `operators` (SORT and SELECT: `ordering`) turns executed chains into one question and its
slot verdicts into one score, `trials` runs the orders that answers propose, `search` finds chains that run, `composer`
makes members of them. Nothing here touches the pool: members go in, members come out.
"""
