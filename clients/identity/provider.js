// An OpenID provider on a fixed port of this machine that can be stopped, started and given new keys.
import http from 'node:http';
import { SignJWT, exportJWK, generateKeyPair, importJWK } from 'jose';
import { Provider } from 'oidc-provider';

export const AUDIENCE = 'https://notes.example.com/api';
export const CLIENT = '6f1c1c0e-5a0c-4f0e-9d2b-0d6b8f0a7a11';
const CLAIMS = {
  'https://example.com/tenant': 'acme',
  'cognito:groups': ['staff', 'admins'],
  realm_access: { roles: ['editor'] },
};

export async function makeKeys(suffix, algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']) {
  return Promise.all(algorithms.map(async (alg) => {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    return { ...(await exportJWK(privateKey)), kid: `${alg}-${suffix}`, alg, use: 'sig' };
  }));
}

export class Identity {
  requests = { configuration: 0, keys: 0 };

  static async start(port = 0) {
    const identity = new Identity();
    identity.port = port;
    await identity.listen();
    await identity.rotate('first');
    return identity;
  }

  get issuer() {
    return `http://127.0.0.1:${this.port}`;
  }

  async listen() {
    this.server = http.createServer((request, response) => {
      if (request.url.endsWith('/openid-configuration')) this.requests.configuration += 1;
      if (request.url.endsWith('/jwks')) this.requests.keys += 1;
      this.callback(request, response);
    });
    await new Promise((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = this.server.address().port;
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Replaces all keys, as a provider does after the rotation period. */
  async rotate(suffix) {
    this.keys = await makeKeys(suffix);
    const provider = new Provider(this.issuer, {
      jwks: { keys: this.keys },
      clients: [{
        client_id: CLIENT,
        client_secret: 'a client secret of a test',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post',
      }],
      extraTokenClaims: () => CLAIMS,
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context, resource) => {
            const { searchParams } = new URL(resource);
            return {
              scope: 'read write',
              audience: searchParams.get('audience'),
              accessTokenTTL: 600,
              accessTokenFormat: 'jwt',
              jwt: { sign: { alg: searchParams.get('alg') } },
            };
          },
        },
      },
    });
    this.callback = provider.callback();
  }

  /** Requests an access token from the provider. */
  async token({ alg = 'RS256', audience = AUDIENCE } = {}) {
    const resource = `https://resource.example.com/?alg=${alg}&audience=${encodeURIComponent(audience)}`;
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: CLIENT,
        client_secret: 'a client secret of a test',
        scope: 'read write',
        resource,
      }),
    });
    const body = await response.json();
    if (!body.access_token) throw new Error(`no token: ${JSON.stringify(body)}`);
    return body.access_token;
  }

  /** Signs a token with a key of the provider, for contents that the provider itself does not issue. */
  async signed(change = {}, head = {}, key = this.keys[0]) {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: this.issuer, aud: AUDIENCE, sub: CLIENT, iat: now, exp: now + 600, ...CLAIMS, ...change };
    for (const name of Object.keys(claims)) if (claims[name] === undefined) delete claims[name];
    const header = { alg: key.alg, kid: key.kid, ...head };
    if (header.kid === undefined) delete header.kid;
    return new SignJWT(claims).setProtectedHeader(header).sign(await importJWK(key, header.alg));
  }
}
