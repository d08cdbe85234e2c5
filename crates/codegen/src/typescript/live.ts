/** What live reads need to know besides. */
export interface ClientOptions {
  /** The WebSocket of live reads; the global one if nothing is said, which browsers have and Node from version 22 on. */
  readonly WebSocket?: LiveSocketConstructor | undefined
}

/** Makes a WebSocket. */
export type LiveSocketConstructor = new (url: string, protocols: string[]) => LiveSocket

/** What live reads use of a WebSocket. */
export interface LiveSocket {
  // `any`, so that each implementation's own types of events will do.
  onopen: ((event: any) => void) | null
  onmessage: ((event: any) => void) | null
  onerror: ((event: any) => void) | null
  onclose: ((event: any) => void) | null
  send(text: string): void
  close(): void
}

/** What a live read may say besides its arguments. */
export interface LiveOptions {
  /** Ends it: whoever waits for what comes next gets the signal's reason thrown. */
  readonly signal?: AbortSignal | undefined
  /** How long a connection may take to begin, or to answer when it is asked whether it is still there. */
  readonly timeoutMs?: number | undefined
  /** How often in a row a lost connection is made again; 12 times, which is about half a minute, if nothing is said. */
  readonly triesMax?: number | undefined
}

/** What a live read of items may say besides its arguments. */
export interface LiveItemsOptions extends LiveOptions {
  /** Goes on after the event that had this token, if that is not too long ago. The arguments must be the same. */
  readonly token?: string | undefined
}

/** An item of an answer. `T` has the type of each entity, by its name. */
export type LiveItem<T> = {
  [N in keyof T]: {
    /** Tells the item from others, in pages and changes alike. */
    readonly key: string
    readonly entity: N
    readonly item: T[N]
    /** The last second of the Unix epoch in which the item is part of the answer, if it leaves by itself. */
    readonly expires?: Whole | undefined
  }
}[keyof T]

/** The answer to begin with: it replaces whatever was known before. */
export interface LivePage<T> {
  readonly kind: 'page'
  readonly items: readonly LiveItem<T>[]
  /** For more items, by the read itself; `null` if these are all. */
  readonly cursor: string | null
  /** To go on after this event another time. */
  readonly token: string
  /** Why the answer begins anew, if it does. */
  readonly reset?: string | undefined
}

/** What happened to one item: it became part of the answer, it is different, or it left. */
export type LiveChange<T> = {
  /** When. */
  readonly at: Date
  /** The id of the change in the table's stream; none where time alone made the item leave. */
  readonly change?: string | undefined
} & (
  | ({ readonly kind: 'insert' | 'modify' } & LiveItem<T>)
  | { readonly kind: 'remove'; readonly key: string; readonly entity: keyof T }
)

/** Changes, in order; there may be none, if only the token is new. */
export interface LiveChanges<T> {
  readonly kind: 'changes'
  readonly changes: readonly LiveChange<T>[]
  /** To go on after this event another time. */
  readonly token: string
}

/** What a live read of items tells. */
export type LiveEvent<T> = LivePage<T> | LiveChanges<T>

/**
 * A read that is followed. Each loop over it has a connection, which is made again where it is lost and goes on where it was.
 *
 * It ends when the loop is left, or with an error: the reason of the signal, a {@link Problem} if the server says no, for instance because
 * the caller may no longer read this, or {@link Unreachable} if no connection can be made.
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

/** A read of items that is followed: a page, then changes of all that the read can return. See {@link Live} for when it ends. */
export class LiveItems<T> extends Live<LiveEvent<T>> {
  readonly #events: Follow<LiveEvent<T>>

  /** @internal */
  constructor(events: Follow<LiveEvent<T>>) {
    super(events)
    this.#events = events
  }

  /** All items by their keys, after the page and after each change. New ones come last, whatever the order of the read is. */
  snapshots(): Live<ReadonlyMap<string, LiveItem<T>>> {
    return new Live((ending) => snapshotsOf(this.#events(ending)))
  }
}

const LIVE_PROTOCOL = 'keyform.live.v1'
const LIVE_TRIES_MAX = 12
/** After so long without a word, the server is asked whether it is there. */
const LIVE_SILENCE_MS = 30_000
/** If so many messages wait for a slow reader, the connection is closed, and made again when they are taken. */
const LIVE_WAITING_MAX = 1_000
/** Codes of a close after which trying again would not help. */
const LIVE_CLOSES_FOR_GOOD: ReadonlySet<number> = new Set([1002, 1003, 1007, 1009])
/** What may pass, so that trying again helps. */
const LIVE_PASSES: ReadonlySet<string> = new Set(['busy', 'slow', 'store', 'too-many', 'unavailable'])
/** The status that each problem has over HTTP. */
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

/** What a loop runs over. It can be left at any time, also while somebody waits for what comes next. */
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

/** Follows reads of a model. */
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

  /** Pages and changes, over as many connections as it takes. */
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
          // The server has another model now: what was known is replaced by a page.
          if (hasBegun && kind === 'token') token = undefined
          // A token of the caller that expired meanwhile may have been replaced.
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
    // Not by headers, which browsers cannot set.
    const { authorization, 'x-keyform-caller': claims } = await callerOf(this.#options)
    const who = authorization?.replace('Bearer ', '') ?? claims
    const authenticate = who === undefined ? [] : [{ type: 'authenticate', token: who }]
    ending.throwIfAborted()
    const Socket = this.#options.WebSocket ?? (globalThis as { WebSocket?: LiveSocketConstructor }).WebSocket
    if (Socket === undefined) throw new TypeError('there is no WebSocket here: pass one in the options of the client')
    const socket = new Socket(socketUrl(urlOf(this.#options, this.#model, 'live')), [LIVE_PROTOCOL])
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 10_000
    return new LiveConnection(pattern, socket, [...authenticate, subscribe], timeoutMs, ending)
  }
}

/** The connection ended, or never began. */
class LiveLost extends Error {}

/** One connection, and what was told on it but not taken yet. */
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

  /** What comes next; what the server says no with, or the loss of the connection, is thrown. */
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
    if (message === undefined) return this.#lose(new LiveLost('what came is not JSON'))
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#ask(), LIVE_SILENCE_MS)
    if (message.type === 'authenticated' || message.type === 'pong') return
    this.#waiting.push(message)
    this.#wake()
    if (this.#waiting.length >= LIVE_WAITING_MAX) this.#lose(new LiveLost('too much waits to be taken'))
  }

  /** Whether the server is still there cannot be told from silence. */
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
    // One that is closed before it is open fails, and nobody needs to know.
    socket.onerror = () => undefined
    socket.close()
    this.#wake()
  }
}

/** `ws:` for `http:`; a path alone is one of the page's own server. */
function socketUrl(url: string): string {
  const page = (globalThis as { location?: { readonly href: string } }).location?.href
  const found = new URL(url, page)
  found.protocol = found.protocol === 'https:' ? 'wss:' : 'ws:'
  return found.href
}

function liveProblem(pattern: string, { code = 'unknown', detail = 'the server says no' }: LiveMessage): Problem {
  return new Problem(pattern, LIVE_STATUS.get(code) ?? 500, code, detail)
}

function mayPass(error: unknown): boolean {
  return error instanceof LiveLost || (error instanceof Problem && LIVE_PASSES.has(error.kind))
}

function givenUp(pattern: string, tries: number, cause: unknown): unknown {
  return cause instanceof Problem ? cause : new Unreachable(pattern, `no connection after ${tries} tries`, { cause })
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

/** The item that there is; while one takes the place of another there may be two for a moment. */
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
