"""The actors of a run: one thin Ray actor a file over the plain classes of `envpool` and `training`.

Invariant: an actor adds a mailbox, health and metrics and nothing else; what it does can be read and tested in
the class that it wraps.
"""
