"""Charts of measures, and differences of versions as HTML."""
