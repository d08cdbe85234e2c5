/** Options of a client. */
export interface ClientOptions {
  /** URL of the server: `https://api.example.com`. */
  readonly baseUrl: string | URL
  /** Bearer token, or a function that returns it before each request. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** Claims of the caller, for a server in development mode, which verifies no tokens. */
  readonly caller?: Caller | undefined
  /** Timeout of one attempt; 10 seconds by default. */
  readonly timeoutMs?: number | undefined
  /** Maximum attempts if the network fails or the server is busy; 4 by default. */
  readonly triesMax?: number | undefined
  /** Additional headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sends the requests; the global `fetch` by default. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined
  /** Timeout of one attempt. */
  readonly timeoutMs?: number | undefined
}

/** Options of one write. */
export interface WriteOptions extends CallOptions {
  /** Calls with the same key are applied once; by default, each call has its own key. */
  readonly idempotencyKey?: string | undefined
}

/** Any JSON value. Numbers with more digits than JavaScript can hold are strings. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** An integer: a `bigint` if a `number` would lose digits. */
export type Whole = number | bigint

/** A number of up to 38 digits: a string if a `number` would lose digits. */
export type Decimal = number | string

/** Items of one page, and the cursor of the next. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Cursor of the next page; `null` on the last page. */
  readonly cursor: string | null
  /** Number of items that were left out because they do not fit the model; absent if there are none. */
  readonly broken?: number
}

/** The items of a read, page by page. It sends no request before the first use. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #read: (cursor: string | null) => Promise<Page<T>>

  /** @internal */
  constructor(read: (cursor: string | null) => Promise<Page<T>>) {
    this.#read = read
  }

  /** Returns one page: the first, or the one after a cursor. */
  page(cursor: string | null = null): Promise<Page<T>> {
    return this.#read(cursor)
  }

  /** Yields all pages, from the first or from the one after a cursor. */
  async *pages(cursor: string | null = null): AsyncGenerator<Page<T>, void, undefined> {
    let next = cursor
    do {
      const page: Page<T> = await this.#read(next)
      yield page
      next = page.cursor
    } while (next !== null)
  }

  /** Yields all items of all pages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.items
  }
}

/** A call that did not succeed. */
export class CallError extends Error {
  /** Name of the pattern that was called. */
  readonly pattern: string

  constructor(pattern: string, message: string, options?: ErrorOptions) {
    super(`${pattern}: ${message}`, options)
    this.name = new.target.name
    this.pattern = pattern
  }
}

/** No answer: the network failed, or the request timed out. `cause` is the last failure. */
export class Unreachable extends CallError {}

/** The server rejected the call. */
export class Problem extends CallError {
  /** HTTP status. */
  readonly status: number
  /** Kind of the problem: `arguments`, `unauthenticated`, `forbidden`, `not-found`, `busy`, … */
  readonly kind: string
  /** What is wrong with this call. */
  readonly detail: string

  constructor(pattern: string, status: number, kind: string, detail: string) {
    super(pattern, detail)
    this.status = status
    this.kind = kind
    this.detail = detail
  }
}

/** Outcomes of refused writes. */
export type Outcome = Outcomes[keyof Outcomes]

/** A write that its model refused, with the outcome that the model declares. */
export class Refused extends Problem {
  /** Name of the outcome. */
  readonly outcome: Outcome
  /** The current item as JSON, if it caused the refusal. */
  readonly item: Json | undefined

  constructor(pattern: string, status: number, kind: string, detail: string, outcome: Outcome, item: Json | undefined) {
    super(pattern, status, kind, detail)
    this.outcome = outcome
    this.item = item
  }

  /** Returns whether this is a refusal of the given write, and narrows the outcome to its names. */
  isOf<P extends keyof Outcomes>(pattern: P): this is this & { readonly outcome: Outcomes[P] } {
    return this.pattern === pattern
  }
}

const RETRY_STATUS: ReadonlySet<number> = new Set([429, 503])
const PAUSE_FIRST_MS = 100
const PAUSE_MAX_MS = 5_000

type Arguments = object
type Decode = (json: unknown) => unknown

/** Sends requests, retries them if that may help, and parses the answers. */
class Connection {
  readonly #model: string
  readonly #options: ClientOptions

  constructor(model: string, options: ClientOptions) {
    this.#model = model
    this.#options = options
  }

  async get(pattern: string, args: Arguments, asJson: readonly string[], options: CallOptions): Promise<unknown> {
    const query = queryOf(args, asJson)
    const path = encodeURIComponent(pattern) + (query === '' ? '' : `?${query}`)
    return this.#call(pattern, path, { method: 'GET' }, {}, options)
  }

  async post(pattern: string, args: Arguments, options: WriteOptions): Promise<unknown> {
    const headers = {
      'content-type': 'application/json',
      // All attempts have the same key, so the write is applied once.
      'idempotency-key': options.idempotencyKey ?? freshKey(),
    }
    const init = { method: 'POST', body: JSON.stringify(plain(args)) }
    return this.#call(pattern, encodeURIComponent(pattern), init, headers, options)
  }

  async #call(
    pattern: string,
    path: string,
    init: RequestInit,
    headers: Readonly<Record<string, string>>,
    options: CallOptions,
  ): Promise<unknown> {
    const url = urlOf(this.#options, this.#model, path)
    const triesMax = Math.max(1, this.#options.triesMax ?? 4)
    for (let tries = 1; ; tries++) {
      const who = await callerOf(this.#options)
      const all = { ...this.#options.headers, ...who, ...headers, accept: 'application/json' }
      let pauseMs: number | undefined
      try {
        const [response, text] = await this.#try(url, { ...init, headers: all }, options)
        if (!RETRY_STATUS.has(response.status) || tries >= triesMax) return answerOf(pattern, response.status, text)
        pauseMs = retryAfterMs(response)
      } catch (error) {
        if (error instanceof CallError) throw error
        options.signal?.throwIfAborted()
        if (tries >= triesMax) throw new Unreachable(pattern, `no answer after ${tries} attempts`, { cause: error })
      }
      await pause(pauseMs ?? backoffMs(tries), options.signal)
    }
  }

  /** One attempt, with the whole body of the answer. */
  async #try(url: string, init: RequestInit, options: CallOptions): Promise<[Response, string]> {
    options.signal?.throwIfAborted()
    const controller = new AbortController()
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 10_000
    const timer = setTimeout(() => controller.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    const end = (): void => controller.abort(options.signal?.reason)
    options.signal?.addEventListener('abort', end)
    try {
      const send = this.#options.fetch ?? globalThis.fetch
      const response = await send(url, { ...init, redirect: 'error', signal: controller.signal })
      return [response, await response.text()]
    } finally {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', end)
    }
  }
}

function urlOf(options: ClientOptions, model: string, path: string): string {
  const base = String(options.baseUrl).replace(/\/+$/, '')
  return `${base}/v1/${encodeURIComponent(model)}/${path}`
}

async function callerOf({ token, caller }: ClientOptions): Promise<Record<string, string>> {
  if (token !== undefined) return { authorization: `Bearer ${typeof token === 'function' ? await token() : token}` }
  if (caller === undefined) return {}
  const claims = Object.entries(caller).filter(([, value]) => value !== undefined && value !== null)
  return { 'x-keyform-caller': claims.map(([name, value]) => `${name}=${claimOf(name, value)}`).join('; ') }
}

function answerOf(pattern: string, status: number, text: string): unknown {
  if (status === 204) return undefined
  const json = parsed(text)
  if (status >= 200 && status < 300) {
    if (json === undefined) throw new Problem(pattern, status, 'answer', 'the answer is not JSON')
    return json
  }
  const body: Readonly<Record<string, unknown>> = typeof json === 'object' && json !== null ? { ...json } : {}
  const kind = String(body['type'] ?? 'unknown').replace('urn:keyform:problem:', '')
  const detail = String(body['detail'] ?? `the server answered ${status}`)
  if (typeof body['outcome'] === 'string')
    throw new Refused(pattern, status, kind, detail, body['outcome'] as Outcome, body['item'] as Json | undefined)
  throw new Problem(pattern, status, kind, detail)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function retryAfterMs(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? NaN)
  return seconds >= 0 ? Math.min(seconds * 1000, PAUSE_MAX_MS) : undefined
}

function backoffMs(tries: number): number {
  return Math.min(PAUSE_FIRST_MS * 2 ** (tries - 1), PAUSE_MAX_MS) * (0.5 + Math.random() / 2)
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
    if (signal?.aborted) end()
  })
}

function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function claimOf(name: string, value: unknown): string {
  const text = textOf(value)
  if (/[^\x20-\x3a\x3c-\x7e]/.test(text)) throw new TypeError(`the caller's ${name} cannot be sent in a header`)
  return text
}

/** Repeats the name for each element of a list; values that are neither strings nor numbers are JSON. */
function queryOf(args: Arguments, asJson: readonly string[]): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || value === null) continue
    const isList = Array.isArray(value) && !asJson.includes(name)
    const texts = isList && value.every(isScalar) ? value.map(textOf) : []
    const isPlain = texts.length > 1 || (texts.length === 1 && !texts[0]?.startsWith('['))
    if (isPlain) for (const text of texts) query.append(name, text)
    else query.append(name, asJson.includes(name) ? JSON.stringify(plain(value)) : textOf(value))
  }
  return query.toString()
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value instanceof Date || value instanceof Uint8Array
}

function textOf(value: unknown): string {
  const json = plain(value)
  return typeof json === 'string' ? json : JSON.stringify(json)
}

/** Encodes a value for the API: times and bytes as strings, sets as lists, large numbers as digits. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} cannot be sent`)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(''))
  if (Array.isArray(value) || value instanceof Set) return Array.from(value as Iterable<unknown>, plain)
  const entries = Object.entries(value).filter(([, part]) => part !== undefined)
  return Object.fromEntries(entries.map(([name, part]) => [name, plain(part)]))
}

/** Decoders from JSON strings, numbers and lists to richer types. */
const decode = {
  same: (json: unknown): unknown => json,
  time: (json: unknown): unknown => new Date(json as string),
  whole: (json: unknown): unknown => (typeof json === 'string' ? BigInt(json) : json),
  money: (json: unknown): unknown => BigInt(json as string | number),
  bytes: (json: unknown): unknown => Uint8Array.from(atob(json as string), (letter) => letter.charCodeAt(0)),
  list: (of: Decode): Decode => (json) => (json as unknown[]).map(of),
  set: (of: Decode): Decode => (json) => new Set((json as unknown[]).map(of)),
  map: (of: Decode): Decode => (json) =>
    Object.fromEntries(Object.entries(json as object).map(([name, part]) => [name, of(part)])),
  /** Decodes an object in which some fields are more than JSON; empty sets are absent there. */
  record: (fields: Readonly<Record<string, Decode>>, sets: readonly string[] = []): Decode => (json) => {
    const empty = sets.filter((name) => !Object.hasOwn(json as object, name)).map((name) => [name, []] as [string, unknown])
    const entry = ([name, part]: [string, unknown]): [string, unknown] => {
      const of = Object.hasOwn(fields, name) && part !== null ? fields[name] : undefined
      return [name, of === undefined ? part : of(part)]
    }
    return Object.fromEntries([...Object.entries(json as object), ...empty].map(entry))
  },
  maybe: (json: unknown, of: Decode): unknown => (json === null ? null : of(json)),
  items: (json: unknown, of: Decode): unknown[] => (json as { items: unknown[] }).items.map(of),
  page: (json: unknown, of: Decode): unknown => ({
    items: (json as { items: unknown[] }).items.map(of),
    cursor: (json as { cursor: string | null }).cursor,
    ...((json as { broken?: number }).broken === undefined ? {} : { broken: (json as { broken?: number }).broken }),
  }),
  count: (json: unknown): number => (json as { count: number }).count,
  part: (json: unknown, name: string, of: Decode): unknown[] =>
    ((json as Record<string, unknown[] | undefined>)[name] ?? []).map(of),
}
