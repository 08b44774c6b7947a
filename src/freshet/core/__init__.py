"""Everything that all packages may use; it needs only the standard library and numpy.

Shared types, the policy interface, clock, settings and errors; distributions, hashing, tables and
series of versions; private files, strict JSON, numbers as people read them and the cache of
compiled code; the version of Freshet.
"""

__version__ = "0.1.0"
# The name on the package index, where `freshet` is another project.
DISTRIBUTION = "freshet-crawler"
