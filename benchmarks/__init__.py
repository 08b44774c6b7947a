"""One file per hot path; each prints a ratio against a plain reference measured in the same run."""
