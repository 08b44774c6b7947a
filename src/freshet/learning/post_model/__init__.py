"""Learns from the threads of a collection when their next posts come."""
