/** The generated client of a model with every type, against a real server at KEYFORM_URL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  EverythingClient,
  Problem,
  Refused,
  ThingId,
  Unreachable,
  type Caller,
  type CreateThingArguments,
  type KeyformPage,
  type Thing,
} from './printed/everything.js'

const baseUrl = process.env['KEYFORM_URL'] ?? 'http://127.0.0.1:8000'
let count = 0

/** Returns a client with a caller of its own, so that tests do not share items. */
function fresh(role: Caller['role'] = 'writer'): { client: EverythingClient; owner: string } {
  const owner = `node-${process.pid}-${count++}`
  return { client: new EverythingClient({ baseUrl, caller: { userId: owner, role } }), owner }
}

async function caught<E extends Error>(action: Promise<unknown>, kind: new (...args: never[]) => E): Promise<E> {
  const error = await action.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(error instanceof kind, `${String(error)} is not ${kind.name}`)
  return error
}

const every: CreateThingArguments = {
  title: 'Größe, 文 and \u{1f600}',
  handle: 'a-b_c.d',
  count: 12345678901234567890123n,
  small: -5,
  ratio: '3.14159265358979323846264338327950288',
  price: 9007199254740993n,
  currency: 'CHF',
  on: false,
  blob: Uint8Array.of(0, 255, 128, 10),
  external: '6f9619ff-8b86-4011-b42d-00c04fc964ff',
  mail: ' Ada@Example.com ',
  link: 'https://example.com/a?b=c',
  happenedAt: new Date('2026-10-31T12:00:00.007Z'),
  writtenAs: '2026-10-31T12:00:00+02:00',
  expires: 1793448000,
  precise: 1793448000123,
  day: '2026-10-31',
  state: 'it\'s "old"',
  tags: ['x', '[y]'],
  stamps: [new Date('2026-01-01T00:00:00.000Z')],
  prices: { big: 123456789012345678n, small: 5 as unknown as bigint },
  labels: new Set(['a', 'b']),
  numbers: new Set([1, '2.5', '12345678901234567890']),
  blobs: [Uint8Array.of(1), Uint8Array.of(2, 3)],
  anything: { a: [1, null, 'x', { b: true }], __proto__: null },
  address: {
    streetName: 'Long Street 1',
    'zip-code': '8000',
    since: new Date('2020-02-29T23:59:59.999Z'),
    parts: [{ amount: 10n ** 20n }],
  },
  nothing: 'x',
  'with space': 'space',
  constructor: 'built',
  class: 'first',
  list: 'items',
  größe: 9,
  dt: 'dt',
  secretKey: 'hush',
}

test('every type comes back as it was given', async () => {
  const { client, owner } = fresh()
  const made: Thing = await client.createThing(every)
  const read = await client.thing({ thingId: made.thingId })
  assert.deepEqual(read, made)
  const { thingId, createdAt, updatedAt, version, ...rest } = read
  assert.match(thingId, /^[0-9A-Z]{26}$/)
  assert.ok(createdAt instanceof Date && Math.abs(createdAt.getTime() - Date.now()) < 60_000)
  assert.deepEqual(updatedAt, createdAt)
  assert.equal(version, 1)
  const { secretKey: _, ...shown } = every
  assert.deepEqual(
    { ...rest, blobs: [...(rest.blobs ?? [])].sort((a, b) => a.length - b.length) },
    {
      ...shown,
      owner,
      mail: 'ada@example.com',
      prices: { big: 123456789012345678n, small: 5n },
      numbers: new Set([1, 2.5, '12345678901234567890']),
      anything: { a: [1, null, 'x', { b: true }] },
    },
  )
  assert.equal('secretKey' in read, false)
})

test('what is left out is absent, and defaults are made', async () => {
  const { client } = fresh()
  const made = await client.createThing({ title: 'bare', handle: undefined, nothing: 'x' })
  assert.equal('handle' in made, false)
  assert.deepEqual([made.count, made.on, made.state], [0, true, 'new'])
})

test('one item, or none, or a problem', async () => {
  const { client } = fresh()
  const nobody = ThingId('01KKP2T8SN0000000000000000')
  assert.equal(await client.constructor_({ thingId: nobody }), null)
  const problem = await caught(client.thing({ thingId: nobody }), Problem)
  assert.deepEqual([problem.status, problem.kind, problem.pattern], [404, 'not-found', 'thing'])
  const wrong = await caught(client.thing({ thingId: ThingId('no') }), Problem)
  assert.deepEqual([wrong.status, wrong.kind], [400, 'arguments'])
  const reader = fresh('reader').client
  const forbidden = await caught(reader.createThing({ title: 'x', nothing: 'x' }), Problem)
  assert.deepEqual([forbidden.status, forbidden.kind], [403, 'forbidden'])
})

test('pages are followed to their end', async () => {
  const { client, owner } = fresh()
  const titles = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  for (const title of titles) await client.createThing({ title, nothing: 'x' })
  const found: string[] = []
  for await (const thing of client.things({ owner })) found.push(thing.title)
  assert.deepEqual(found, [...titles].reverse())
  const first: KeyformPage<Thing> = await client.things({ owner }).page()
  assert.equal(first.items.length, 3)
  const second = await client.things({ owner }).page(first.cursor)
  assert.deepEqual(
    second.items.map((thing) => thing.title),
    ['d', 'c', 'b'],
  )
  const sizes: number[] = []
  for await (const page of client.things({ owner }).pages()) sizes.push(page.items.length)
  assert.deepEqual(sizes.slice(0, 3), [3, 3, 1])
  const forged = await caught(client.things({ owner }).page('made up'), Problem)
  assert.equal(forged.kind, 'cursor')
  assert.equal(await client.then_({ owner }), 7)
  const all = await client.thingsSince({ owner, since: first.items[0]!.createdAt })
  assert.equal(all.length >= 1, true)
  const some = await client.titles({ owner }).page()
  assert.deepEqual(Object.keys(some.items[0]!).sort(), ['createdAt', 'thingId', 'title'])
  const things = await client.class({ thingIds: first.items.map((thing) => thing.thingId) })
  assert.equal(things.length, 3)
})

test('an item with its parts, and a write that keeps what is there', async () => {
  const { client } = fresh()
  const { thingId } = await client.createThing({ title: 'parts', nothing: 'x' })
  for (const number of [0, 1, 2]) {
    const page = await client.import({ thingId, number, text: `page ${number}` })
    assert.equal(page?.number, number)
  }
  assert.equal(await client.import({ thingId, number: 1, text: 'again' }), null)
  const answer = await client.thingWithPages({ thingId })
  assert.deepEqual([answer.thing.title, answer.pages.map((page) => page.text)], ['parts', ['page 0', 'page 1', 'page 2']])
  const nobody = ThingId('01KKP2T8SN0000000000000000')
  assert.deepEqual(await client.maybeWithPages({ thingId: nobody }), { thing: null, pages: [] })
  const between = await client.pagesBetween({ thingId, from: 1, to: 2 }).page()
  assert.equal(between.items.length, 2)
})

test('arguments of a query: lists, sets, records and JSON', async () => {
  const { client, owner } = fresh()
  await client.createThing({ title: '[odd', handle: 'h', anything: 'text', nothing: 'x' })
  const ask = (among: string[], words: string[], data: string | number): Promise<number> =>
    client
      .list({ owner, like: { on: true, at: new Date() }, among, words: new Set(words), data })
      .page()
      .then((page) => page.items.length)
  assert.equal(await ask(['[odd'], ['h'], 'text'), 1)
  assert.equal(await ask(['[odd', 'b', 'c'], ['h', 'i'], 'text'), 1)
  assert.equal(await ask(['odd'], ['h'], 'text'), 0)
  assert.equal(await ask([], ['h'], 'text'), 0)
  assert.equal(await ask(['[odd'], ['h'], 5), 0)
})

test('refusals have names', async () => {
  const { client } = fresh()
  const { thingId } = await client.createThing({ title: 'first', nothing: 'x' })
  const second = await client.rename({ thingId, title: 'second', expected: 1 })
  assert.deepEqual([second.title, second.version], ['second', 2])
  const refused = await caught(client.rename({ thingId, title: 'third', expected: 1 }), Refused)
  assert.ok(refused.isOf('rename'))
  const outcome: 'UnknownThing' | 'Changed' | 'Conflict' = refused.outcome
  assert.equal(outcome, 'Changed')
  assert.equal((refused.item as { title?: string } | undefined)?.title, 'second')
  await client.delete({ thingId })
  assert.equal((await caught(client.delete({ thingId }), Refused)).outcome, 'UnknownThing')
})

test('a write that is tried again applies once', async () => {
  const { client, owner } = fresh()
  const { thingId } = await client.createThing({ title: 'once', nothing: 'x' })
  const keys: (string | null)[] = []
  // The answer to the first attempt is lost.
  const losing: typeof fetch = async (url, init) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'))
    const answer = await fetch(url, init)
    if (keys.length === 1) throw new TypeError('the network is gone')
    return keys.length === 2 ? new Response('', { status: 503, headers: { 'retry-after': '0' } }) : answer
  }
  const caller: Caller = { userId: owner, role: 'writer' }
  const shaky = new EverythingClient({ baseUrl, caller, fetch: losing })
  assert.equal((await shaky.raise({ thingId, by: 5 })).count, 5)
  assert.equal(keys.length, 3)
  assert.equal(new Set(keys).size, 1)
  await client.raise({ thingId, by: 1 }, { idempotencyKey: 'same' })
  assert.equal((await client.raise({ thingId, by: 1 }, { idempotencyKey: 'same' })).count, 6)
  const reused = await caught(client.raise({ thingId, by: 2 }, { idempotencyKey: 'same' }), Problem)
  assert.equal(reused.status, 422)
})

test('a server that does not answer, a time that is over, a call that is ended', async () => {
  const silent: typeof fetch = (_, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
  const client = new EverythingClient({ baseUrl, fetch: silent, timeoutMs: 5, triesMax: 2 })
  const unreachable = await caught(client.then_({ owner: 'x' }), Unreachable)
  assert.match(String((unreachable.cause as Error).message), /5 ms/)
  const controller = new AbortController()
  const ended = client.then_({ owner: 'x' }, { signal: controller.signal, timeoutMs: 60_000 })
  controller.abort(new RangeError('enough'))
  await caught(ended, RangeError)
})

test('a connection whose fields are words of the languages', async () => {
  const { client } = fresh()
  const { thingId } = await client.createThing({ title: 'from', nothing: 'x' })
  const made = await client.connect({ from: thingId, self: 'me' })
  assert.deepEqual([made.from, made.self, made.code.length], [thingId, 'me', 10])
})

test('who calls cannot be mixed with other claims', async () => {
  const client = new EverythingClient({ baseUrl, caller: { userId: 'a; role=writer', role: 'reader' } })
  await caught(client.then_({ owner: 'x' }), TypeError)
})
