"""The only place where stages meet; one file per verb."""
