"""Requests in a Scrapy JOBDIR that an earlier version of the add-on has stored."""

import pickle

from scrapy import Request

from freshet.fetch.request_context import context_of

STORED_META = (
    b"\x80\x04\x95\xc7\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x0cfreshet_trip\x94\x8c\x16freshet.fetch"
    b".requests\x94\x8c\x04Trip\x94\x93\x94)\x81\x94N}\x94(\x8c\x03url\x94\x8c\x11http://a.example/"
    b"\x94\x8c\x06errand\x94N\x8c\x04hops\x94)\x8c\x08is_ready\x94\x89\x8c\x0eis_conditional\x94\x89"
    b"\x8c\x04sent\x94N\x8c\x06passed\x94\x8f\x94\x8c\x03day\x94\x8c\x00\x94\x8c\x02at\x94h\x08\x8c"
    b"\x07is_told\x94\x89\x8c\x0bwaits_again\x94\x89u\x86\x94bs."
)


def test_a_request_that_an_earlier_version_stored_gets_a_new_context() -> None:
    request = Request("http://a.example/", meta=pickle.loads(STORED_META))
    context = context_of(request)
    assert (context.url, context.job, context.hops) == ("http://a.example/", None, ())
    assert pickle.loads(pickle.dumps(request.meta)).keys() == request.meta.keys()
