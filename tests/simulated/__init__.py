"""Simulated stages: they answer within milliseconds in place of vLLM, verl and MiniLM, so that a run's own machinery
(pool, replicas, buffer, curator, gates, supervisor) does in minutes what takes it days. Named as what they are; chosen
by `run.actors`.
"""
