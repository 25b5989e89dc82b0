"""Where the numbers of a run go: one writer, and a sink for each place that reads them."""
