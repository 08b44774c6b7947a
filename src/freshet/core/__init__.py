"""Shared types, the policy interface, clock, settings and errors, and the version of Freshet."""

__version__ = "0.1.0"
# The name on the package index, where `freshet` is another project.
DISTRIBUTION = "freshet-crawler"
