// The server accepts the tokens of a real OpenID provider, and no others.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { WebSocket } from 'ws';

import { AUDIENCE, CLIENT, Identity, makeKeys } from './provider.js';
import { Keyform, sleep, until } from './keyform.js';

/** The server fetches keys for an unknown `kid` at most this often. */
const REFRESH_MS = 30_000;
const OWN = `tenant=acme&userId=${CLIENT}`;

let identity;
let keyform;

const flags = () => ['--oidc-issuer', identity.issuer, '--oidc-audience', AUDIENCE];
const call = (token, read = 'notes') => keyform.call(token, `${read}?${OWN}`);
const status = async (token, read) => (await call(token, read)).status;

/** Asserts that a token is refused, for a reason. */
async function refused(token, reason) {
  const { status, body } = await call(await token);
  assert.equal(status, 401, JSON.stringify(body));
  assert.match(body.detail, reason);
}

describe('tokens of a running provider', { concurrency: false }, () => {
  before(async () => {
    identity = await Identity.start();
    keyform = await Keyform.start(flags());
    await until(async () => (await keyform.readiness()) === 200);
  });
  after(async () => {
    await keyform.stop();
    await identity.stop();
  });

  test('every algorithm of the provider is accepted', async () => {
    for (const alg of ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']) {
      const answer = await call(await identity.token({ alg }));
      assert.equal(answer.status, 200, `${alg}: ${JSON.stringify(answer.body)}`);
    }
  });

  test('claims are read from where the token carries them', async () => {
    const token = await identity.token();
    assert.equal(await status(token, 'asStaff'), 200);
    assert.equal(await status(token, 'asOwner'), 403);
    assert.equal(await status(token, 'asEditor'), 200);
    assert.equal(await status(token, 'asReader'), 200);
    const other = await keyform.call(token, `notes?tenant=other&userId=${CLIENT}`);
    assert.equal(other.status, 403);
    assert.equal(await status(await identity.signed({ 'cognito:groups': 'staff' }), 'asStaff'), 200);
    assert.equal(await status(await identity.signed({ 'cognito:groups': [] }), 'asStaff'), 403);
    await refused(identity.signed({ sub: 'not a uuid' }), /`userId` does not have its declared type/);
    await refused(identity.signed({ sub: undefined }), /no claim `userId`/);
  });

  test('live reads take the same tokens', async () => {
    const first = async (token) => {
      const url = `${keyform.url.replace('http', 'ws')}/v1/notes/live`;
      const socket = new WebSocket(url, ['keyform.live.v1', `keyform.token.${token}`]);
      await new Promise((resolve, reject) => { socket.on('open', resolve); socket.on('error', reject); });
      const message = new Promise((resolve) => socket.on('message', resolve));
      const closed = new Promise((resolve) => socket.on('close', (code) => resolve(`{"type":"closed ${code}"}`)));
      socket.send(JSON.stringify({ type: 'subscribe', id: 'm', read: 'asStaff', arguments: { tenant: 'acme', userId: CLIENT } }));
      const { type, code } = JSON.parse(await Promise.race([message, closed]));
      socket.terminate();
      return code ?? type;
    };
    assert.equal(await first(await identity.token()), 'page');
    assert.equal(await first(await identity.signed({ 'cognito:groups': ['guests'] })), 'forbidden');
    assert.match(await first(await identity.signed({ aud: 'other' })), /unauthenticated|closed 4001/);
  });

  test('a token of another issuer is refused', async () => {
    await refused(identity.signed({ iss: 'https://other.example.com' }), /issuer/);
    await refused(identity.signed({ iss: `${identity.issuer}/` }), /issuer/);
    await refused(identity.signed({ iss: undefined }), /issuer/);
  });

  test('a token for another audience is refused', async () => {
    await refused(identity.token({ audience: 'https://other.example.com/api' }), /audience/);
    await refused(identity.signed({ aud: undefined }), /audience/);
    await refused(identity.signed({ aud: 'other', client_id: AUDIENCE }), /audience/);
    assert.equal(await status(await identity.signed({ aud: ['other', AUDIENCE] })), 200);
    assert.equal(await status(await identity.signed({ aud: undefined, client_id: AUDIENCE })), 200, 'as Cognito');
  });

  test('another algorithm than that of the key is refused', async () => {
    const [rsa] = identity.keys;
    assert.equal(rsa.alg, 'RS256');
    await refused(identity.signed({}, { alg: 'PS256' }), /signature/);
    const secret = { kty: 'oct', k: rsa.n, alg: 'HS256', kid: rsa.kid };
    await refused(identity.signed({}, {}, secret), /signature/);
    const [head, claims] = (await identity.signed()).split('.');
    assert.ok(head);
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    await refused(Promise.resolve(`${none}.${claims}.`), /not supported/);
  });

  test('a token that has expired, never expires or is not valid yet is refused', async () => {
    const now = Math.floor(Date.now() / 1000);
    await refused(identity.signed({ exp: now - 60 }), /expired/);
    await refused(identity.signed({ exp: undefined }), /no `exp`/);
    await refused(identity.signed({ nbf: now + 120 }), /not valid yet/);
    assert.equal(await status(await identity.signed({ exp: now - 10 })), 200, 'within the clock difference');
    assert.equal(await status(await identity.signed({ nbf: now + 10 })), 200, 'within the clock difference');
  });

  test('another key is refused, whatever id it names', async () => {
    const [foreign] = await makeKeys('foreign', ['RS256']);
    await refused(identity.signed({}, {}, foreign), /signature/);
    await refused(identity.signed({}, { kid: identity.keys[0].kid }, foreign), /signature/);
    await refused(identity.signed({}, { kid: undefined }, foreign), /signature/);
    assert.equal(await status(await identity.signed({}, { kid: undefined })), 200, 'without an id every key is tried');
  });

  test('a call without a token, or with the development header, is refused', async () => {
    await refused(Promise.resolve(undefined), /send a token/);
    const headers = { 'x-keyform-caller': `userId=${CLIENT}; tenant=acme` };
    assert.equal((await fetch(`${keyform.url}/v1/notes/notes?${OWN}`, { headers })).status, 401);
  });
});

describe('a provider that changes its keys and fails', { concurrency: false }, () => {
  let fetched;
  before(async () => {
    identity = await Identity.start();
    await identity.stop();
    keyform = await Keyform.start(flags());
  });
  after(async () => {
    await keyform.stop();
    await identity.stop();
  });

  test('the server starts without the provider and asks callers to retry', async () => {
    const answer = await call(await identity.signed());
    assert.equal(answer.status, 503);
    assert.equal(answer.body.type, 'urn:keyform:problem:identity-provider');
    assert.ok(Number(answer.retryAfter) > 0);
    assert.equal(await keyform.readiness(), 503);
    await identity.listen();
    const token = await identity.token();
    await until(async () => (await status(token)) === 200);
    fetched = Date.now();
    assert.equal(await keyform.readiness(), 200);
  });

  test('keys stay while the provider is down', async () => {
    const token = await identity.token();
    await identity.stop();
    assert.equal(await status(token), 200);
    assert.equal(await keyform.readiness(), 200);
    await identity.listen();
  });

  test('many tokens with unknown keys cause one request, and rotated keys are found by it', async () => {
    const old = await identity.token();
    const [foreign] = await makeKeys('foreign', ['ES256']);
    const before = identity.requests.keys;
    await Promise.all(Array.from({ length: 20 }, (_, number) =>
      identity.signed({}, { kid: `unknown-${number}` }, foreign).then((token) => refused(token, /signature/))));
    assert.equal(identity.requests.keys, before, 'the keys were fetched a moment ago');
    await identity.rotate('second');
    await sleep(fetched + REFRESH_MS + 500 - Date.now());
    const tokens = await Promise.all(Array.from({ length: 20 }, () => identity.token()));
    const answers = await Promise.all(tokens.map((token) => status(token)));
    assert.deepEqual(new Set(answers), new Set([200]));
    assert.equal(identity.requests.keys, before + 1);
    await refused(Promise.resolve(old), /signature/);
  });
});

describe('configuration', { concurrency: false }, () => {
  test('an issuer without an audience, or without TLS, is refused', async () => {
    const start = async (...given) => {
      const server = await Keyform.start(given);
      assert.notEqual(await server.ended, 0);
      return server.output;
    };
    assert.match(await start('--oidc-issuer', 'https://login.example.com'), /--oidc-issuer needs --oidc-audience/);
    const clear = await start('--oidc-issuer', 'http://login.example.com', '--oidc-audience', AUDIENCE);
    assert.match(clear, /http is allowed on loopback only/);
  });

  test('tokens of `keyform token` are accepted beside those of the provider', async () => {
    identity = await Identity.start();
    const folder = process.env.KEYFORM_SCRATCH;
    const file = join(folder, 'token.key');
    writeFileSync(file, '0123456789abcdef0123456789abcdef', { mode: 0o600 });
    keyform = await Keyform.start([...flags(), '--jwt-key-file', file]);
    await until(async () => (await keyform.readiness()) === 200);
    const model = new URL('notes.kf', import.meta.url).pathname;
    const run = (...given) => execFileSync(process.env.KEYFORM_BINARY, ['token', model, ...given], {
      cwd: folder, env: { PATH: process.env.PATH, HOME: folder }, encoding: 'utf8', stdio: 'pipe',
    });
    const claims = ['--as', `userId=${CLIENT}`, '--as', 'tenant=acme', '--as', 'groups=["staff"]'];
    const token = run(...claims, '--expires', '10m', '--jwt-key-file', file);
    assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    assert.equal(await status(token.trim(), 'asStaff'), 200);
    assert.equal(await status(token.trim(), 'asEditor'), 403);
    assert.equal(await status(await identity.token(), 'asEditor'), 200);
    assert.throws(() => run(...claims), /no secret to sign a token with/);
    const secret = { kty: 'oct', k: Buffer.from('0123456789abcdef0123456789abcdef').toString('base64url'), alg: 'HS256' };
    await refused(identity.signed({}, {}, secret), /signature/);
    await keyform.stop();
    await identity.stop();
  });
});
