"""A pool over HTTP: questions out, answers in, verdicts back (`envolve serve`).

`app` has the service and its HTTP interface, `backend` what one serves from, `standing` and `snapshot` two of those,
`client` the other end. The extra `serve` brings what they need.
"""
