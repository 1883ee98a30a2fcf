"""A connection that is lost while the page follows a turn or a run."""

from playwright.async_api import Page

CUTTABLE = """(() => {
  const real = window.fetch;
  window.fetch = async (...asked) => {
    const reply = await real(...asked);
    if (!/\\/(assist\\/stream|runs\\/[^/]+\\/events)$/.test(String(asked[0]))) return reply;
    const reader = reply.body.getReader();
    const gone = new Promise((_, fail) => { window.cut_ = () => fail(new TypeError("network error")); });
    const pull = async (to) => {
      const next = await Promise.race([reader.read(), gone]);
      if (next.done) to.close(); else to.enqueue(next.value);
    };
    return new Response(new ReadableStream({ pull }), { status: reply.status, headers: reply.headers });
  };
})()"""
"""Lets the body of a stream end as it does in a browser whose network is gone; Chromium's offline mode leaves it open.

It is run before the page is loaded.
"""


async def cut_off(page: Page) -> None:
    """Take the network away in the middle of a stream."""
    await page.context.set_offline(True)
    await page.evaluate("window.cut_()")
