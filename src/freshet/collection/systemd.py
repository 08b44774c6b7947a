"""Writes the systemd unit of a crawl."""

from dataclasses import dataclass
from pathlib import Path

UNIT_TEMPLATE = """\
[Unit]
Description=Freshet crawl of {description}
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
User={user}
# Compiles the functions of a crawl at the first start and after an update; else takes seconds.
ExecStartPre=-{program} compile
ExecStart={command}
TimeoutStartSec=600
Restart=on-failure
RestartSec=30
# A restart does not help with wrong usage or settings, a missing collection or damage.
RestartPreventExitStatus=2 3 4 7
# A stop waits until the requests in flight have been recorded.
TimeoutStopSec=120
UMask=0077
# Compiled functions are kept here between starts.
CacheDirectory=freshet
Environment=NUMBA_CACHE_DIR=%C/freshet
ReadWritePaths={collection}
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
NoNewPrivileges=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlService:
    """The crawl that a unit runs: program, collection, user, and where it serves metrics."""

    program: Path
    collection: Path
    user: str
    metrics_port: int = 0
    metrics_address: str = ""

    def unit(self) -> str:
        """Return the text of the unit file."""
        words = [str(self.program), "run", "--collection", str(self.collection), "--quiet"]
        words += ["--log-file", "-"]
        if self.metrics_port:
            words += ["--metrics-port", str(self.metrics_port)]
        if self.metrics_port and self.metrics_address:
            words += ["--metrics-address", self.metrics_address]
        return UNIT_TEMPLATE.format(
            description=_escape_percent(str(self.collection)),
            user=self.user,
            program=quote_word(str(self.program)).replace("$", "$$"),
            command=" ".join(map(quote_word, words)).replace("$", "$$"),
            collection=quote_word(str(self.collection)),
        )


def quote_word(word: str) -> str:
    """Return a word quoted for a unit file.

    >>> quote_word("/srv/news"), quote_word("/srv/my news")
    ('/srv/news', '"/srv/my news"')
    >>> quote_word("/srv/50%")
    '/srv/50%%'
    """
    escaped = _escape_percent(word.replace("\\", "\\\\").replace('"', '\\"'))
    return escaped if escaped and not set(" \t'\";") & set(escaped) else f'"{escaped}"'


def _escape_percent(text: str) -> str:
    """Return a text in which systemd expands no percent sign."""
    return text.replace("%", "%%")
