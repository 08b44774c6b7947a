"""The shared words: types, the policy protocol, clock, settings and errors."""
