"""Upgrades a catalog to the present schema; loaded only when an upgrade is needed."""

from importlib.resources import files

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from freshet.archive.catalog.schema import metadata

MIGRATIONS = "freshet.archive.catalog.migrations"


def upgrade(connection: Connection) -> None:
    """Run the migrations that this database lacks, in the transaction of the connection."""
    scripts = ScriptDirectory(str(files(MIGRATIONS)))
    context = MigrationContext.configure(connection, opts={"target_metadata": metadata})
    revisions = list(scripts.iterate_revisions("head", context.get_current_revision() or "base"))
    with Operations.context(context):
        for revision in reversed(revisions):
            revision.module.upgrade()
    context.stamp(scripts, "head")
