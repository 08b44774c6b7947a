"""Learned score functions: the tables and figures of Santos et al. 2015 (GP4C), reproduced."""
