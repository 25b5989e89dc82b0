"""A run as a whole: configuration, start and stop, the command line and the live view."""
