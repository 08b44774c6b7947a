"""The errors that Freshet raises, in one tree.

    FreshetError
    ├── UsageError          what was asked cannot be done as asked
    │   ├── SettingsError   a setting is unknown or has a wrong value
    │   ├── NotFound        a page, version, tag or collection that is not there
    │   └── BadInput        an outside file or repository cannot be read
    ├── StorageError        the collection's own files
    │   ├── Locked          another process appends to the archive
    │   ├── Damaged         a record is cut short or altered
    │   ├── TooNew          the collection was written by a newer Freshet
    │   └── NoSpace         the disk is full, or the folder cannot be written
    └── Interrupted         stopped on request; everything acknowledged is kept

A message says what is wrong, with which value, where, and what to do about it.
The command line alone turns one of these into a line and an exit code.
"""


class FreshetError(Exception):
    """Anything that Freshet reports by itself."""

    exit_code = 1


class UsageError(FreshetError):
    """What was asked cannot be done as asked."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is unknown or has a wrong value."""


class NotFound(UsageError):
    """A page, version, tag or collection is not there."""

    exit_code = 3


class BadInput(UsageError):
    """An outside file or repository cannot be read."""

    exit_code = 4


class StorageError(FreshetError):
    """The collection's own files cannot be used."""

    exit_code = 5


class Locked(StorageError):
    """Another process is appending to the archive."""

    exit_code = 6


class Damaged(StorageError):
    """A record of the archive is cut short or altered."""

    exit_code = 7


class TooNew(StorageError):
    """The collection was written by a newer Freshet."""


class NoSpace(StorageError):
    """The disk is full, or the folder cannot be written."""


class Interrupted(FreshetError):
    """The work was stopped on request; what was acknowledged is kept."""

    exit_code = 130
