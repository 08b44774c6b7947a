"""The packages that draw charts: an optional extra, imported here and nowhere else.

Without them an import of this module fails with one line that says what to install.
"""

from freshet.core.errors import UsageError
from freshet.core.extras import installation_advice

try:
    import altair as alt
    import vl_convert
    from altair.typing import ChartType
except ImportError as error:
    raise UsageError(
        f"charts need altair and vl-convert-python; {installation_advice('charts')}"
    ) from error

__all__ = ["ChartType", "alt", "vl_convert"]
