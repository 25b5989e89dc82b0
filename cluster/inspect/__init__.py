"""Looking into a run, live or finished: the terminal view."""
