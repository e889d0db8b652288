"""Host policy, pending requests, and the results of navigations."""
