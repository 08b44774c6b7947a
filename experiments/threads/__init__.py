"""Delay of posts against visits on recorded discussion threads."""
