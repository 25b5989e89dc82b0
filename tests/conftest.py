"""What holds for all tests: no example of hypothesis has a deadline, since machines are shared and slow."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
