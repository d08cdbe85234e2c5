/** Options of live reads. */
export interface ClientOptions {
  /** WebSocket of live reads; the global one by default, which browsers have, and Node since version 22. */
  readonly WebSocket?: LiveSocketConstructor | undefined
}

/** Creates a WebSocket. */
export type LiveSocketConstructor = new (url: string, protocols: string[]) => LiveSocket

/** The part of a WebSocket that live reads use. */
export interface LiveSocket {
  // `any`, so that the event types of each implementation fit.
  onopen: ((event: any) => void) | null
  onmessage: ((event: any) => void) | null
  onerror: ((event: any) => void) | null
  onclose: ((event: any) => void) | null
  send(text: string): void
  close(): void
}

/** Options of one live read. */
export interface LiveOptions {
  /** Ends the read: waiting for the next event then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Timeout for opening a connection and for the answer to a ping. */
  readonly timeoutMs?: number | undefined
  /** Consecutive attempts to reconnect; 12 by default, about half a minute. */
  readonly triesMax?: number | undefined
}

/** Options of a live read of items. */
export interface LiveItemsOptions extends LiveOptions {
  /** Resumes after the event with this token, if it is not too old. The arguments must be the same. */
  readonly token?: string | undefined
}

/** An item of a live read. `T` has the type of each entity, by name. */
export type LiveItem<T> = {
  [N in keyof T]: {
    /** Identifies the item in pages and changes. */
    readonly key: string
    readonly entity: N
    readonly item: T[N]
    /** Last second of the Unix epoch in which the item is part of the result, if it leaves without a write. */
    readonly expires?: Whole | undefined
  }
}[keyof T]

/** The initial result, which replaces everything received before. */
export interface LivePage<T> {
  readonly kind: 'page'
  readonly items: readonly LiveItem<T>[]
  /** Cursor for more items, to be passed to the read itself; `null` if these are all. */
  readonly cursor: string | null
  /** Token to resume after this event. */
  readonly token: string
  /** Reason why the result starts again, if it does. */
  readonly reset?: string | undefined
}

/** A change of one item: it was added to the result, changed, or left it. */
export type LiveChange<T> = {
  /** Time of the change. */
  readonly at: Date
  /** Id of the change in the table's stream; absent if the item left because of its time. */
  readonly change?: string | undefined
} & (
  | ({ readonly kind: 'insert' | 'modify' } & LiveItem<T>)
  | { readonly kind: 'remove'; readonly key: string; readonly entity: keyof T }
)

/** Changes, in order; empty if only the token is new. */
export interface LiveChanges<T> {
  readonly kind: 'changes'
  readonly changes: readonly LiveChange<T>[]
  /** Token to resume after this event. */
  readonly token: string
}

/** Event of a live read of items. */
export type LiveEvent<T> = LivePage<T> | LiveChanges<T>

/**
 * A live read. Each loop over it has a connection, which is opened again when it is lost and resumes.
 *
 * It ends when the loop is left, or with an error: the reason of the signal, a {@link Problem} if the server rejects it, for instance because
 * the caller may no longer read this, or {@link Unreachable} if no connection can be opened.
 */
export class Live<E> implements AsyncIterable<E> {
  readonly #follow: Follow<E>

  /** @internal */
  constructor(follow: Follow<E>) {
    this.#follow = follow
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<E> {
    return iterate(this.#follow)
  }
}

/** A live read of items: a page, then all changes of the result. See {@link Live} for its end. */
export class LiveItems<T> extends Live<LiveEvent<T>> {
  readonly #events: Follow<LiveEvent<T>>

  /** @internal */
  constructor(events: Follow<LiveEvent<T>>) {
    super(events)
    this.#events = events
  }

  /** All items by key, after the page and after each change. New items come last, regardless of the order of the read. */
  snapshots(): Live<ReadonlyMap<string, LiveItem<T>>> {
    return new Live((ending) => snapshotsOf(this.#events(ending)))
  }
}

const LIVE_PROTOCOL = 'keyform.live.v1'
const LIVE_TRIES_MAX = 12
/** Silence after which the client sends a ping. */
const LIVE_SILENCE_MS = 30_000
/** Messages that may wait for a slow reader; beyond that, the connection is closed and opened again when they are consumed. */
const LIVE_WAITING_MAX = 1_000
/** Close codes after which a retry does not help. */
const LIVE_CLOSES_FOR_GOOD: ReadonlySet<number> = new Set([1002, 1003, 1007, 1009])
/** Temporary problems, after which a retry helps. */
const LIVE_PASSES: ReadonlySet<string> = new Set(['busy', 'slow', 'store', 'too-many', 'unavailable'])
/** HTTP status of each problem. */
const LIVE_STATUS: ReadonlyMap<string, number> = new Map([
  ['arguments', 400],
  ['message', 400],
  ['token', 400],
  ['unauthenticated', 401],
  ['forbidden', 403],
  ['not-found', 404],
  ['unknown-path', 404],
  ['too-many', 429],
  ['internal', 500],
  ['not-runnable', 501],
  ['store', 502],
  ['busy', 503],
  ['slow', 503],
  ['unavailable', 503],
])

type Decoders = Readonly<Record<string, Decode>>
type Messages = AsyncGenerator<LiveMessage, void, undefined>
type Follow<E> = (ending: AbortController) => AsyncGenerator<E, void, undefined>

interface LiveEntry {
  readonly key: string
  readonly entity: string
  readonly item?: unknown
  readonly expires?: number | string
}

interface LiveMoment {
  readonly kind: string
  readonly at: number
  readonly change?: string
}

interface LiveMessage {
  readonly type: string
  readonly token?: string
  readonly items?: readonly LiveEntry[]
  readonly cursor?: string | null
  readonly count?: number
  readonly reset?: string
  readonly changes?: readonly (LiveEntry & LiveMoment)[]
  readonly code?: string
  readonly detail?: string
}

/** The iterator of a loop. The loop can be left at any time, also while it waits for the next event. */
function iterate<E>(follow: Follow<E>): AsyncIterableIterator<E> {
  const ending = new AbortController()
  const left = new Error('the loop was left')
  const events = follow(ending)
  return {
    async next(): Promise<IteratorResult<E, undefined>> {
      try {
        const { done, value } = await events.next()
        return done === true ? { done, value: undefined } : { done: false, value: value as E }
      } catch (error) {
        if (error === left) return { done: true, value: undefined }
        throw error
      }
    },
    async return(): Promise<IteratorResult<E, undefined>> {
      ending.abort(left)
      await events.return()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator](): AsyncIterableIterator<E> {
      return this
    },
  }
}

/** Runs live reads of a model. */
class LiveReads {
  readonly #model: string
  readonly #options: ClientOptions

  constructor(model: string, options: ClientOptions) {
    this.#model = model
    this.#options = options
  }

  items<T>(pattern: string, args: Arguments, options: LiveItemsOptions, decoders: Decoders): LiveItems<T> {
    return new LiveItems((ending) => eventsOf<T>(this.#messages(pattern, args, options, ending), decoders))
  }

  one<T>(pattern: string, args: Arguments, options: LiveOptions, decoders: Decoders): Live<T | null> {
    return new Live((ending) => lastOf<T>(this.#messages(pattern, args, options, ending), decoders))
  }

  count(pattern: string, args: Arguments, options: LiveOptions): Live<number> {
    return new Live((ending) => countsOf(this.#messages(pattern, args, options, ending)))
  }

  /** Yields pages and changes over any number of connections. */
  async *#messages(pattern: string, args: Arguments, options: LiveItemsOptions, ending: AbortController): Messages {
    const abort = (): void => ending.abort(options.signal?.reason)
    options.signal?.addEventListener('abort', abort)
    if (options.signal?.aborted) abort()
    try {
      let token = options.token
      let hasBegun = false
      for (let tries = 1; ; tries++) {
        const connection = await this.#connect(pattern, args, token, options, ending.signal)
        try {
          for (;;) {
            const message = await connection.next()
            token = message.token
            hasBegun = true
            tries = 0
            if (message.type !== 'resumed') yield message
          }
        } catch (error) {
          ending.signal.throwIfAborted()
          const kind = error instanceof Problem ? error.kind : undefined
          // The server has loaded another model: a new page replaces everything received before.
          if (hasBegun && kind === 'token') token = undefined
          // The caller's token has expired, and there may be a new one.
          else if (!mayPass(error) && !(tries === 0 && kind === 'unauthenticated')) throw error
          const triesMax = options.triesMax ?? (hasBegun ? LIVE_TRIES_MAX : (this.#options.triesMax ?? 4))
          if (tries >= triesMax) throw givenUp(pattern, tries, error)
        } finally {
          connection.close()
        }
        await pause(backoffMs(Math.max(1, tries)), ending.signal)
      }
    } finally {
      options.signal?.removeEventListener('abort', abort)
    }
  }

  async #connect(
    pattern: string,
    args: Arguments,
    token: string | undefined,
    options: LiveOptions,
    ending: AbortSignal,
  ): Promise<LiveConnection> {
    const subscribe = { type: 'subscribe', id: 'live', read: pattern, arguments: plain(args), token }
    // Not in headers, which browsers cannot set.
    const { authorization, 'x-keyform-caller': claims } = await callerOf(this.#options)
    const who = authorization?.replace('Bearer ', '') ?? claims
    const authenticate = who === undefined ? [] : [{ type: 'authenticate', token: who }]
    ending.throwIfAborted()
    const Socket = this.#options.WebSocket ?? (globalThis as { WebSocket?: LiveSocketConstructor }).WebSocket
    if (Socket === undefined) throw new TypeError('no WebSocket available: pass one in the options of the client')
    const socket = new Socket(socketUrl(urlOf(this.#options, this.#model, 'live')), [LIVE_PROTOCOL])
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 10_000
    return new LiveConnection(pattern, socket, [...authenticate, subscribe], timeoutMs, ending)
  }
}

/** The connection ended, or was never open. */
class LiveLost extends Error {}

/** One connection, and its messages that were not consumed yet. */
class LiveConnection {
  readonly #pattern: string
  readonly #socket: LiveSocket
  readonly #timeoutMs: number
  readonly #ending: AbortSignal
  readonly #waiting: LiveMessage[] = []
  readonly #close = (): void => this.close()
  #lost: Error | undefined
  #wake = (): void => undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(pattern: string, socket: LiveSocket, first: readonly object[], timeoutMs: number, ending: AbortSignal) {
    this.#pattern = pattern
    this.#socket = socket
    this.#timeoutMs = timeoutMs
    this.#ending = ending
    ending.addEventListener('abort', this.#close)
    socket.onopen = () => first.forEach((message) => socket.send(JSON.stringify(message)))
    socket.onmessage = (event: { readonly data: unknown }) => this.#hear(String(event.data))
    socket.onerror = () => this.#lose(new LiveLost('the connection failed'))
    socket.onclose = (event: { readonly code: number; readonly reason: string }) => this.#closed(event)
    this.#timer = setTimeout(() => this.#giveUp(), timeoutMs)
  }

  /** Returns the next message; throws a rejection by the server or the loss of the connection. */
  async next(): Promise<LiveMessage> {
    for (;;) {
      const message = this.#waiting.shift()
      if (message?.type === 'error' || message?.type === 'ended') throw liveProblem(this.#pattern, message)
      if (message !== undefined) return message
      if (this.#lost !== undefined) throw this.#lost
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  close(): void {
    this.#lose(new LiveLost('the connection was closed'))
  }

  #hear(text: string): void {
    const message = parsed(text) as LiveMessage | undefined
    if (message === undefined) return this.#lose(new LiveLost('the message is not JSON'))
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#ask(), LIVE_SILENCE_MS)
    if (message.type === 'authenticated' || message.type === 'pong') return
    this.#waiting.push(message)
    this.#wake()
    if (this.#waiting.length >= LIVE_WAITING_MAX) this.#lose(new LiveLost('too many unread messages'))
  }

  /** Sends a ping: silence alone does not show whether the server is alive. */
  #ask(): void {
    this.#timer = setTimeout(() => this.#giveUp(), this.#timeoutMs)
    this.#socket.send(JSON.stringify({ type: 'ping' }))
  }

  #giveUp(): void {
    this.#lose(new LiveLost(`no answer within ${this.#timeoutMs} ms`))
  }

  #closed({ code, reason }: { readonly code: number; readonly reason: string }): void {
    const words = reason === '' ? `the connection was closed with ${code}` : reason
    if (code === 4001) this.#lose(new Problem(this.#pattern, 401, 'unauthenticated', words))
    else if (LIVE_CLOSES_FOR_GOOD.has(code)) this.#lose(new Problem(this.#pattern, 400, 'message', words))
    else this.#lose(new LiveLost(words))
  }

  #lose(why: Error): void {
    if (this.#lost !== undefined) return
    this.#lost = why
    clearTimeout(this.#timer)
    this.#ending.removeEventListener('abort', this.#close)
    const socket = this.#socket
    socket.onopen = socket.onmessage = socket.onclose = null
    // Closing a socket before it is open raises an error event that is of no interest.
    socket.onerror = () => undefined
    socket.close()
    this.#wake()
  }
}

/** Returns the URL with `ws:` instead of `http:`; a path alone belongs to the page's own server. */
function socketUrl(url: string): string {
  const page = (globalThis as { location?: { readonly href: string } }).location?.href
  const found = new URL(url, page)
  found.protocol = found.protocol === 'https:' ? 'wss:' : 'ws:'
  return found.href
}

function liveProblem(pattern: string, { code = 'unknown', detail = 'rejected by the server' }: LiveMessage): Problem {
  return new Problem(pattern, LIVE_STATUS.get(code) ?? 500, code, detail)
}

function mayPass(error: unknown): boolean {
  return error instanceof LiveLost || (error instanceof Problem && LIVE_PASSES.has(error.kind))
}

function givenUp(pattern: string, tries: number, cause: unknown): unknown {
  return cause instanceof Problem ? cause : new Unreachable(pattern, `no connection after ${tries} attempts`, { cause })
}

async function* eventsOf<T>(messages: Messages, decoders: Decoders): AsyncGenerator<LiveEvent<T>, void, undefined> {
  const item = ({ key, entity, item, expires }: LiveEntry): object => ({
    key,
    entity,
    ...(item === undefined ? {} : { item: (decoders[entity] ?? decode.same)(item) }),
    ...(expires === undefined ? {} : { expires: decode.whole(expires) }),
  })
  const change = (entry: LiveEntry & LiveMoment): object => ({
    kind: entry.kind,
    ...item(entry),
    at: new Date(entry.at),
    change: entry.change,
  })
  for await (const { type, token, items, cursor, reset, changes } of messages) {
    const event =
      type === 'page'
        ? { kind: type, items: items?.map(item), cursor, token, reset }
        : { kind: type, changes: changes?.map(change), token }
    yield event as LiveEvent<T>
  }
}

async function* snapshotsOf<T>(
  events: AsyncGenerator<LiveEvent<T>, void, undefined>,
): AsyncGenerator<ReadonlyMap<string, LiveItem<T>>, void, undefined> {
  let items = new Map<string, LiveItem<T>>()
  for await (const event of events) {
    if (event.kind === 'page') {
      items = new Map(event.items.map((item) => [item.key, item]))
    } else {
      if (event.changes.length === 0) continue
      items = new Map(items)
      for (const change of event.changes) {
        if (change.kind === 'remove') items.delete(change.key)
        else items.set(change.key, change)
      }
    }
    yield items
  }
}

/** The current item; while one replaces another, there may be two for a moment. */
async function* lastOf<T>(messages: Messages, decoders: Decoders): AsyncGenerator<T | null, void, undefined> {
  for await (const items of snapshotsOf(eventsOf<Record<string, T>>(messages, decoders))) {
    yield [...items.values()].at(-1)?.item ?? null
  }
}

async function* countsOf(messages: Messages): AsyncGenerator<number, void, undefined> {
  let last: number | undefined
  for await (const { count, changes = [] } of messages) {
    let now: number = count ?? last ?? 0
    for (const { kind } of changes) now += kind === 'insert' ? 1 : kind === 'remove' ? -1 : 0
    if (now !== last) yield now
    last = now
  }
}
