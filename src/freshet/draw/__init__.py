"""Charts of measures, pages coloured by their lifespans, and differences of versions as HTML."""
