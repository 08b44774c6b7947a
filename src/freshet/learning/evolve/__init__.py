"""Learning, by genetic programming from a trace, the formula that ranks pages best."""
