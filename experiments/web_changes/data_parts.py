"""Descriptions of the parts of the real data, in the order of the table."""

PART_DESCRIPTIONS = {
    "telegram": "pages of telegram.org, state at each day's end",
    "gdocs_bigquery": "documentation as markdown, daily",
    "gdocs_spanner": "documentation as markdown, daily",
    "claude_docs": "documentation as markdown",
    "stalker": "blogs, shops, release pages, after a scraper's own selection",
    "ota_contrib_snap": "terms and policies, whole HTML pages",
    "ota_contrib_snap_b": "the same, further pages",
    "ota_contrib_snap_c": "the same, further pages",
    "ota_contrib_snap_d": "the same, further pages",
    "ota_france_snap": "the same, French services",
    "ota_contrib_ver": "terms as extracted text",
    "ota_contrib_ver_b": "the same, further pages",
    "ota_france_ver": "the same, French services",
    "ota_other_ver_pga": "the same, other collections",
    "ota_other_ver_p2b": "the same, other collections",
    "ota_other_ver_vlopses": "the same, other collections",
    "gh_trending": "lists of programs, daily",
    "bbc_front": "headlines of a front page, every half hour",
    "hn_front": "entries of a front page, every half hour",
    "cdr_home": "a news aggregator's home page, hourly",
}
