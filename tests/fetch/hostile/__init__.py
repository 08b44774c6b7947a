"""A web of servers that misbehave, each in one way, with the outcome that a visit must have."""
