"""The errors that Freshet raises, in one tree.

    FreshetError
    ├── UsageError              the request cannot be carried out
    │   ├── SettingsError       a setting is unknown or has a wrong value
    │   ├── NotFoundError       a page, version, tag or collection does not exist
    │   ├── BadInputError       an outside file or repository cannot be read
    │   ├── OwnClassError       a class of the user fails
    │   └── OwnMeasureError     a measure of the user fails on a page
    ├── StorageError            the collection's own files cannot be used
    │   ├── LockedError         another process is appending to the archive
    │   ├── DamagedError        a record is cut short or altered
    │   ├── TooNewError         the collection was written by a newer Freshet
    │   └── NoSpaceError        the disk is full, or the folder cannot be written
    └── StopRequestedError      stopped on request; everything acknowledged is stored

A message says what is wrong, with which value, where, and what to do about it.
Only the command line turns an error into a line of text and an exit code.
"""


class FreshetError(Exception):
    """Base class of all errors that Freshet reports."""

    exit_code = 1


class UsageError(FreshetError):
    """The request cannot be carried out."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is unknown or has a wrong value."""


class NotFoundError(UsageError):
    """A page, version, tag or collection does not exist."""

    exit_code = 3


class BadInputError(UsageError):
    """An outside file or repository cannot be read."""

    exit_code = 4


class OwnClassError(UsageError):
    """A class of the user fails, such as a policy given as ``module:Class``."""


class OwnMeasureError(UsageError):
    """A measure of the user fails on a page; the visit is recorded, and a crawl goes on."""


class StorageError(FreshetError):
    """The collection's own files cannot be used."""

    exit_code = 5


class LockedError(StorageError):
    """Another process is appending to the archive."""

    exit_code = 6


class DamagedError(StorageError):
    """A record of the archive is cut short or altered."""

    exit_code = 7


class TooNewError(StorageError):
    """The collection was written by a newer Freshet."""


class NoSpaceError(StorageError):
    """The disk is full, or the folder cannot be written."""


class StopRequestedError(FreshetError):
    """The work was stopped on request; everything acknowledged is stored."""

    exit_code = 130
