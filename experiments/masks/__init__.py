"""How well noise is told from change, on the living web where the truth is known."""
