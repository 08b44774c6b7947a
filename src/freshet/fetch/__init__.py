"""The live crawl on Scrapy: requests, politeness, address guard, limits and observations."""
