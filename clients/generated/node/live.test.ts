/** Live reads of the generated clients, against a real server at KEYFORM_URL and against servers that stop. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { DiscordClient, Problem as DiscordProblem, UserId } from './printed/discord.js'
import {
  EverythingClient,
  Problem,
  ThingId,
  Unreachable,
  type Caller,
  type LiveChange,
  type LiveEvent,
  type LivePage,
  type LiveSocket,
  type LiveSocketConstructor,
  type Thing,
} from './printed/everything.js'
import { Served } from './served.js'

const baseUrl = process.env['KEYFORM_URL'] ?? 'http://127.0.0.1:8000'
const Platform = (globalThis as unknown as { WebSocket: LiveSocketConstructor }).WebSocket
type Things = { Thing: Thing }
let count = 0

/** Returns a client with a caller of its own, so that tests do not share items. */
function fresh(options: object = {}): { client: EverythingClient; owner: string } {
  const owner = `live-${process.pid}-${count++}`
  const caller: Caller = { userId: owner, role: 'writer' }
  return { client: new EverythingClient({ baseUrl, caller, ...options }), owner }
}

async function next<E>(events: AsyncIterator<E>): Promise<E> {
  const { done, value } = await events.next()
  assert.ok(done !== true, 'it ended')
  return value
}

async function page(events: AsyncIterator<LiveEvent<Things>>): Promise<LivePage<Things>> {
  const event = await next(events)
  assert.equal(event.kind, 'page')
  return event as LivePage<Things>
}

/** Returns the next change; skips events that carry only a token. */
async function change(events: AsyncIterator<LiveEvent<Things>>): Promise<LiveChange<Things>> {
  for (;;) {
    const event = await next(events)
    assert.ok(event.kind === 'changes')
    assert.ok(event.changes.length <= 1)
    if (event.changes[0] !== undefined) return event.changes[0]
  }
}

async function caught<E extends Error>(action: Promise<unknown>, kind: new (...args: never[]) => E): Promise<E> {
  const error = await action.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(error instanceof kind, `${String(error)} is not ${kind.name}`)
  return error
}

test('a page, an insert, a change and a removal', async () => {
  const { client, owner } = fresh()
  const first = await client.createThing({ title: 'first', price: 9007199254740993n, nothing: 'x' })
  const done: string[] = []
  let second: Thing | undefined
  for await (const event of client.live.things({ owner })) {
    if (event.kind === 'page') {
      assert.deepEqual(
        event.items.map(({ item }) => item),
        [first],
      )
      assert.deepEqual([event.cursor, event.reset], [null, undefined])
      second = await client.createThing({ title: 'second', blob: Uint8Array.of(0, 255), nothing: 'x' })
      continue
    }
    for (const change of event.changes) {
      done.push(change.kind)
      assert.ok(change.at instanceof Date && typeof change.change === 'string')
      if (change.kind === 'insert') {
        assert.deepEqual(change.item, second)
        await client.rename({ thingId: first.thingId, title: 'renamed', expected: 1 })
      } else if (change.kind === 'modify') {
        const thing: Thing = change.item
        assert.deepEqual([thing.title, thing.price, thing.version], ['renamed', 9007199254740993n, 2])
        await client.delete({ thingId: first.thingId })
      }
    }
    if (done.length === 3) break
  }
  assert.deepEqual(done, ['insert', 'modify', 'remove'])
})

test('one item and a count', async () => {
  const { client, owner } = fresh()
  const counts = client.live.then_({ owner })[Symbol.asyncIterator]()
  assert.equal(await next(counts), 0)
  const made = await client.createThing({ title: 'one', nothing: 'x' })
  assert.equal(await next(counts), 1)
  const things = client.live.thing({ thingId: made.thingId })[Symbol.asyncIterator]()
  assert.deepEqual(await next(things), made)
  const renamed = await client.rename({ thingId: made.thingId, title: 'other', expected: 1 })
  assert.deepEqual(await next(things), renamed)
  await client.delete({ thingId: made.thingId })
  assert.equal(await next(things), null)
  assert.equal(await next(counts), 0)
  await Promise.all([counts.return?.(), things.return?.()])
})

test('several entities, and all of them at once', async () => {
  const { client } = fresh()
  const { thingId } = await client.createThing({ title: 'parts', nothing: 'x' })
  const titles: string[][] = []
  for await (const items of client.live.thingWithPages({ thingId }).snapshots()) {
    titles.push(Array.from(items.values(), (found) => (found.entity === 'Thing' ? found.item.title : found.item.text)))
    if (titles.length === 1) await client.import({ thingId, number: 1, text: 'one' })
    else if (titles.length === 2) await client.rename({ thingId, title: 'whole', expected: 1 })
    else break
  }
  assert.deepEqual(titles, [['parts'], ['parts', 'one'], ['whole', 'one']])
})

test('it goes on where a token left off', async () => {
  const { client, owner } = fresh()
  const before = client.live.things({ owner })[Symbol.asyncIterator]()
  const { token } = await page(before)
  await before.return?.()
  await client.createThing({ title: 'meanwhile', nothing: 'x' })
  const after = client.live.things({ owner }, { token })[Symbol.asyncIterator]()
  const missed = await change(after)
  assert.ok(missed.kind === 'insert' && missed.item.title === 'meanwhile')
  await after.return?.()
  const other = fresh()
  const events = other.client.live.things({ owner: other.owner }, { token })[Symbol.asyncIterator]()
  assert.equal((await caught(events.next(), Problem)).kind, 'token')
})

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  test(`it goes on after the server was restarted by ${signal}`, async () => {
    const served = await Served.begin()
    try {
      let connections = 0
      /** Finds the server, which gets another port at each start, but only at the second attempt. */
      class Found extends Platform {
        constructor(_: string, protocols: string[]) {
          const base = connections++ === 1 ? 'ws://127.0.0.1:9' : served.url.replace('http', 'ws')
          super(`${base}/v1/everything/live`, protocols)
        }
      }
      const { client, owner } = fresh({ baseUrl: served.url, WebSocket: Found })
      const events = client.live.things({ owner })[Symbol.asyncIterator]()
      const counts = client.live.then_({ owner }, { triesMax: Infinity })[Symbol.asyncIterator]()
      assert.deepEqual((await page(events)).items, [])
      const { thingId } = await client.createThing({ title: 'before', nothing: 'x' })
      const before = await change(events)
      assert.equal(await next(counts), 1)
      await served.stop(signal)
      await served.start()
      const again = new EverythingClient({ baseUrl: served.url, caller: { userId: owner, role: 'writer' } })
      await again.rename({ thingId, title: 'after', expected: 1 })
      const modified = await change(events)
      assert.ok(modified.kind === 'modify' && modified.key === before.key && modified.item.title === 'after')
      await again.delete({ thingId })
      const removed = await change(events)
      assert.deepEqual([removed.kind, removed.key], ['remove', before.key])
      assert.equal(await next(counts), 0)
      await Promise.all([events.return?.(), counts.return?.()])
      assert.ok(connections >= 4)
    } finally {
      await served.end()
    }
  })

test('the reasons of the server', async () => {
  const { client } = fresh()
  const first = <E>(live: AsyncIterable<E>): Promise<IteratorResult<E>> => live[Symbol.asyncIterator]().next()
  const forbidden = await caught(first(client.live.things({ owner: 'somebody-else' })), Problem)
  assert.deepEqual([forbidden.status, forbidden.kind, forbidden.pattern], [403, 'forbidden', 'things'])
  const wrong = await caught(first(client.live.thing({ thingId: ThingId('no') })), Problem)
  assert.deepEqual([wrong.status, wrong.kind], [400, 'arguments'])
  const nobody = await caught(first(new EverythingClient({ baseUrl }).live.things({ owner: 'x' })), Problem)
  assert.deepEqual([nobody.status, nobody.kind], [401, 'unauthenticated'])
  const large = await caught(first(client.live.class({ thingIds: Array<ThingId>(3_000).fill(ThingId('x'.repeat(26))) })), Problem)
  assert.deepEqual([large.status, large.kind], [400, 'message'])
  const away = new EverythingClient({ baseUrl: 'http://127.0.0.1:9', triesMax: 2 })
  assert.match((await caught(first(away.live.things({ owner: 'x' })), Unreachable)).message, /2 attempts/)
})

test('a caller who may no longer read', async () => {
  const id = (start: string): string => start + String(process.pid).padStart(26 - start.length, '0')
  const [owner, guest] = [id('01KKP2T8SN2'), id('01KKP2T8SN3')]
  const host = new DiscordClient({ baseUrl, caller: { userId: owner } })
  const visitor = new DiscordClient({ baseUrl, caller: { userId: guest } })
  const { serverId } = await host.createServer({ name: 'Engines' })
  const { inviteCode } = await host.createInvite({ serverId })
  await visitor.joinByInvite({ inviteCode })
  const events = visitor.live.channelsOfServer({ serverId })[Symbol.asyncIterator]()
  await next(events)
  const channel = await host.createChannel({ serverId, name: 'talk' })
  const told = await next(events)
  assert.ok(told.kind === 'changes' && told.changes[0]?.kind === 'insert')
  assert.deepEqual(told.changes[0].item, channel)
  await host.removeMember({ serverId, userId: UserId(guest) })
  const ended = (async () => {
    for (;;) await next(events)
  })()
  const problem = await caught(ended, DiscordProblem)
  assert.deepEqual([problem.status, problem.kind], [403, 'forbidden'])
})

test('a loop that is left, a signal, and a return while one waits', async () => {
  const open = new Set<LiveSocket>()
  class Counted extends Platform {
    constructor(url: string, protocols: string[]) {
      super(url, protocols)
      open.add(this)
    }
    override close(): void {
      open.delete(this)
      super.close()
    }
  }
  const { client, owner } = fresh({ WebSocket: Counted })
  for await (const event of client.live.things({ owner })) {
    assert.equal(event.kind, 'page')
    break
  }
  assert.equal(open.size, 0)
  const controller = new AbortController()
  const aborted = client.live.things({ owner }, { signal: controller.signal })[Symbol.asyncIterator]()
  await page(aborted)
  const waiting = aborted.next()
  controller.abort(new RangeError('enough'))
  await caught(waiting, RangeError)
  assert.deepEqual([open.size, (await aborted.next()).done], [0, true])
  const before = client.live.things({ owner }, { signal: controller.signal })[Symbol.asyncIterator]()
  await caught(before.next(), RangeError)
  const left = client.live.things({ owner })[Symbol.asyncIterator]()
  await page(left)
  const last = left.next()
  await left.return?.()
  assert.deepEqual([(await last).done, open.size], [true, 0])
})

test('a slow reader receives everything, and not all of it waits in memory', async () => {
  let connections = 0
  /** Sends a thousand changes each time a client subscribes. */
  class Talkative implements LiveSocket {
    onopen: ((event: unknown) => void) | null = null
    onmessage: ((event: { data: string }) => void) | null = null
    onerror: ((event: unknown) => void) | null = null
    onclose: ((event: unknown) => void) | null = null
    constructor() {
      connections++
      setImmediate(() => this.onopen?.({}))
    }
    send(text: string): void {
      const { type, token } = JSON.parse(text) as { type: string; token?: string }
      if (type !== 'subscribe') return
      const from = Number(token ?? 0)
      const tell = (message: object): void => this.onmessage?.({ data: JSON.stringify(message) })
      if (from === 0) tell({ type: 'page', id: 'live', count: 0, token: '0' })
      const change = { kind: 'insert', key: 'k', entity: 'Thing', at: 0 }
      for (let number = from + 1; number <= 2500; number++)
        tell({ type: 'changes', id: 'live', changes: [change], token: String(number) })
    }
    close(): void {}
  }
  const counts = fresh({ WebSocket: Talkative }).client.live.then_({ owner: 'x' })[Symbol.asyncIterator]()
  for (let expected = 0; expected <= 2500; expected++) assert.equal(await next(counts), expected)
  assert.equal(connections, 3)
  await counts.return?.()
})

test('a connection on which nothing answers is made again', async () => {
  let connections = 0
  class Silent implements LiveSocket {
    onopen: ((event: unknown) => void) | null = null
    onmessage: ((event: unknown) => void) | null = null
    onerror: ((event: unknown) => void) | null = null
    onclose: ((event: unknown) => void) | null = null
    constructor() {
      connections++
    }
    send(): void {}
    close(): void {}
  }
  const { client, owner } = fresh({ WebSocket: Silent })
  const events = client.live.things({ owner }, { timeoutMs: 5, triesMax: 2 })[Symbol.asyncIterator]()
  const unreachable = await caught(events.next(), Unreachable)
  assert.match(String((unreachable.cause as Error).message), /5 ms/)
  assert.equal(connections, 2)
})

test('tokens of callers', async () => {
  const secret = 'a secret that only this test and its server know'
  const directory = await mkdtemp(join(tmpdir(), 'keyform-key-'))
  const file = join(directory, 'jwt.key')
  await writeFile(file, secret, { mode: 0o600 })
  const served = await Served.begin(['--jwt-key-file', file])
  const signed = (claims: object): string => {
    const parts = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    return `${parts.join('.')}.${createHmac('sha256', secret).update(parts.join('.')).digest('base64url')}`
  }
  const ada = { userId: 'ada', role: 'writer' }
  try {
    // The server tolerates a clock difference of 30 seconds: the first token expires in two.
    const ends = [Date.now() / 1000 - 28, Date.now() / 1000 + 600]
    const lasting = signed({ ...ada, exp: Date.now() / 1000 + 600 })
    const writer = new EverythingClient({ baseUrl: served.url, token: lasting })
    const token = async (): Promise<string> => {
      if (ends.length === 1) await writer.createThing({ title: 'known', nothing: 'x' })
      return signed({ ...ada, exp: ends.shift() })
    }
    const events = new EverythingClient({ baseUrl: served.url, token }).live.things({ owner: 'ada' })[Symbol.asyncIterator]()
    assert.deepEqual((await page(events)).items, [])
    const inserted = await change(events)
    assert.ok(inserted.kind === 'insert' && inserted.item.title === 'known')
    await events.return?.()
    const stranger = new EverythingClient({ baseUrl: served.url, token: 'no.such.token' })
    const refused = await caught(stranger.live.things({ owner: 'ada' })[Symbol.asyncIterator]().next(), Problem)
    assert.deepEqual([refused.status, refused.kind], [401, 'unauthenticated'])
  } finally {
    await served.end()
    await rm(directory, { recursive: true })
  }
})
