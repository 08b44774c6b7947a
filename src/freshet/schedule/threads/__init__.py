"""Visits of threads: how long posts have been waiting to be found."""
