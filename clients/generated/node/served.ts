/** A server for a single test, which can stop and restart it. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export class Served {
  url = ''
  readonly #directory: string
  readonly #options: readonly string[]
  #process: ChildProcess | undefined

  private constructor(directory: string, options: readonly string[]) {
    this.#directory = directory
    this.#options = options
  }

  static async begin(options: readonly string[] = []): Promise<Served> {
    const served = new Served(await mkdtemp(join(tmpdir(), 'keyform-served-')), options)
    await served.start()
    return served
  }

  async start(): Promise<void> {
    const data = ['--data', join(this.#directory, 'data'), '--port', '0']
    const env = { ...process.env, HOME: this.#directory, XDG_CONFIG_HOME: this.#directory }
    const command = ['serve', '../everything.kf', '--set', 'stage=test', ...data, ...this.#options]
    const binary = process.env['KEYFORM_BINARY'] ?? 'keyform'
    this.#process = spawn(binary, command, { env, stdio: ['ignore', 'pipe', 'ignore'] })
    for await (const line of createInterface({ input: this.#process.stdout! })) {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line)
      if (found !== null) {
        this.url = found[0]
        this.#process.stdout!.resume()
        return
      }
    }
    throw new Error('the server did not start')
  }

  /** Stops the server: with `SIGTERM` it closes its connections, with `SIGKILL` it does not. */
  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const ended = once(this.#process!, 'exit')
    this.#process!.kill(signal)
    await ended
  }

  async end(): Promise<void> {
    await this.stop('SIGKILL')
    await rm(this.#directory, { recursive: true })
  }
}
