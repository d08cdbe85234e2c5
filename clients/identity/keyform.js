// A Keyform server on a free port.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

export class Keyform {
  static async start(flags) {
    const keyform = new Keyform();
    keyform.folder = mkdtempSync(join(tmpdir(), 'keyform-identity-'));
    const model = new URL('notes.kf', import.meta.url).pathname;
    keyform.child = spawn(process.env.KEYFORM_BINARY, ['serve', model, '--in-memory', '--port', '0', ...flags], {
      cwd: keyform.folder,
      env: { PATH: process.env.PATH, HOME: keyform.folder },
    });
    running.add(keyform.child);
    keyform.output = '';
    const collect = (data) => { keyform.output += data; };
    keyform.child.stdout.on('data', collect);
    keyform.child.stderr.on('data', collect);
    keyform.ended = new Promise((resolve) => keyform.child.on('exit', resolve));
    await Promise.race([keyform.ended, until(() => /ready on (http:\S+)/.test(keyform.output))]);
    keyform.url = keyform.output.match(/ready on (http:\S+)/)?.[1];
    return keyform;
  }

  /** Calls a read; returns the status, the body and `Retry-After`. */
  async call(token, read = 'notes') {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${this.url}/v1/notes/${read}`, { headers });
    const body = await response.json();
    return { status: response.status, body, retryAfter: response.headers.get('retry-after') };
  }

  async readiness() {
    return (await fetch(`${this.url}/readyz`)).status;
  }

  async stop() {
    this.child.kill('SIGTERM');
    await this.ended;
    running.delete(this.child);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function until(condition, milliseconds = 20_000) {
  for (const end = Date.now() + milliseconds; Date.now() < end; await sleep(50)) {
    if (await condition()) return;
  }
  throw new Error('the condition did not become true in time');
}
