"""Simulated crawl of a formula in which pages with the same visit history form one class."""
