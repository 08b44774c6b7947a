"""How well noise is distinguished from change on the simulated web, where the truth is known."""
