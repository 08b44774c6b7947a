"""Histories from elsewhere, read as arrivals."""
