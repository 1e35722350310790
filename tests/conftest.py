"""Settings that hold for all tests."""

from hypothesis import settings

# A deadline would measure how busy the computer is.
settings.register_profile("without deadline", deadline=None)
settings.load_profile("without deadline")
