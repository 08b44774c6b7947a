"""Compare the versions of a page: changes, noise, dynamics over time, statistics and outcomes."""
