"""Measuring a policy on questions it is never trained on."""
