"""The live crawl on Scrapy: due pages, host clocks, conditional requests, guard, limits, record."""
