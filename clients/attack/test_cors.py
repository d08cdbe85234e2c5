"""Web pages of other origins in a real browser: calls and live reads of an allowed origin, refusals of the others."""

import pytest

from browser import Site, visit
from keys import credentials_file, token, token_key_file

USER = "01KKP2T8SN0000000000000000"

# Subscribes to the servers of the user, creates one, and waits until the live read delivers it.
PAGE = """
  const server = 'http://127.0.0.1:PORT', caller = CALLER, protocols = ['keyform.live.v1', ...PROTOCOLS];
  const create = (name) => fetch(server + '/v1/discord/createServer', {
    method: 'POST', body: JSON.stringify({ name }),
    headers: { ...caller, 'Content-Type': 'application/json', 'Idempotency-Key': name },
  });
  await attempt('call', async () => {
    const answer = await create('first');
    return { status: answer.status, id: answer.headers.has('X-Amzn-RequestId'), name: (await answer.json()).name };
  });
  await attempt('problem', async () => (await fetch(server + '/v1/discord/absent', { headers: caller })).status);
  await attempt('openapi', async () => (await (await fetch(server + '/v1/discord/openapi.json')).json()).openapi);
  await attempt('operation', () => send(server + '/', {
    method: 'POST', headers: { 'X-Amz-Target': 'DynamoDB_20120810.ListTables' }, body: '{}' }));
  for (const path of ['/', '/healthz', '/readyz', '/metrics']) await attempt(path, () => send(server + path));
  await attempt('live', () => new Promise((resolve) => {
    const socket = new WebSocket('ws://127.0.0.1:PORT/v1/discord/live', protocols);
    const say = (message) => socket.send(JSON.stringify(message));
    const subscribe = () => say({ type: 'subscribe', id: 's', read: 'serversOfUser', arguments: { userId: USER } });
    socket.onopen = () => {
      if (!SAID) return subscribe();
      say({ type: 'authenticate', token: SAID });
    };
    socket.onerror = () => resolve('refused');
    const kinds = [];
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      kinds.push(message.type);
      if (message.type === 'authenticated') subscribe();
      if (message.type === 'page') create('second').catch(() => resolve('not created'));
      if (message.type === 'changes' && message.changes.length) resolve(kinds.join(' '));
      if (message.type === 'error') resolve(message.code);
    };
    setTimeout(() => resolve('silent: ' + kinds.join(' ')), 20000);
  }));
"""


def script(port, published):
    bearer = token(userId=USER)
    caller = f"{{ Authorization: 'Bearer {bearer}' }}" if published else f"{{ 'X-Keyform-Caller': 'userId={USER}' }}"
    values = {
        "PORT": str(port),
        "CALLER": caller,
        "PROTOCOLS": f"['keyform.token.{bearer}']" if published else "[]",
        "SAID": "''" if published else f"'userId={USER}'",
        "USER": f"'{USER}'",
    }
    text = PAGE
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def visited(serve, folder, published, host, *flags):
    """Opens a page of `host` in Chromium. `{origin}` in a flag is the origin of app.example."""
    site = Site()
    keys = [*credentials_file(folder), *token_key_file(folder)] if published else []
    flags = [flag.format(origin=f"http://app.example:{site.port}") for flag in flags]
    server = serve("--in-memory", *keys, *flags)
    try:
        return visit(site, site.page("/page.html", script(server.port, published), host), folder, ["*.example"])
    finally:
        site.close()


NOT_SHARED = ("operation", "/", "/healthz", "/readyz", "/metrics")


@pytest.mark.parametrize("published", [False, True], ids=["development", "published"])
@pytest.mark.parametrize("flags", [["{origin}"], ["{origin}", "--cors-credentials"]], ids=["plain", "credentials"])
def test_a_page_of_an_allowed_origin_calls_and_follows(serve, tmp_path, published, flags):
    results = visited(serve, tmp_path, published, "app.example", "--cors-origin", *flags)
    assert results["call"] == {"status": 200, "id": True, "name": "first"}
    assert results["problem"] == 404
    assert results["openapi"].startswith("3.")
    assert results["live"].endswith("page changes")
    assert [results[name] for name in NOT_SHARED] == ["error"] * 5


@pytest.mark.parametrize("published", [False, True], ids=["development", "published"])
@pytest.mark.parametrize("flags", [[], ["--cors-origin", "{origin}"]], ids=["none", "another"])
def test_a_page_of_another_origin_is_refused(serve, tmp_path, published, flags):
    results = visited(serve, tmp_path, published, "evil.example", *flags)
    assert results.pop("live") == "refused"
    assert results == dict.fromkeys(results, "error")


def test_an_allowed_origin_does_not_allow_its_host(serve):
    server = serve("--in-memory", "--cors-origin", "http://app.example")
    headers = {"Host": "app.example", "Origin": "http://app.example"}
    assert server.request("GET", "/v1", headers=headers).status == 421
