"""The version of Freshet, where every package can import it."""

__version__ = "0.1.0"
