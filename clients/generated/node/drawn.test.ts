/** The generated clients of random models: every kind of step, each followed by a read, against a real server. */
import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

const baseUrl = process.env['KEYFORM_URL'] ?? 'http://127.0.0.1:8000'
const folder = join(import.meta.dirname ?? '.', '..', '..', 'drawn')
const keys = ['a', 'b']

type Pattern = (args: Record<string, unknown>) => Promise<unknown>
interface Call {
  pattern: string
  arguments: Record<string, unknown>
}
interface Status {
  status?: number
}

/** Returns a decoded value in the form in which the server sends it. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Set || Array.isArray(value)) return [...value].map(plain)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([, of]) => of !== undefined)
  return Object.fromEntries(fields.map(([name, of]) => [name, plain(of)]))
}

/** Returns an item as the server sends it. */
async function stored(name: string, key: string): Promise<unknown> {
  const text = await (await fetch(`${baseUrl}/v1/${name}/thing?id=${key}`)).text()
  return text === '' ? null : (JSON.parse(text) as unknown)
}

const names = (await readdir(folder)).filter((file) => file.endsWith('.kf')).map((file) => file.slice(0, -3))
for (const name of names.sort()) {
  await test(`what steps of ${name} write is read back`, async () => {
    const module = (await import(`./printed/${name}.js`)) as Record<string, new (options: object) => object>
    const kind = module[`${name.charAt(0).toUpperCase()}${name.slice(1)}Client`]
    assert.ok(kind)
    const client = new kind({ baseUrl }) as Record<string, Pattern>
    const run = (pattern: string, args: Record<string, unknown>): Promise<unknown> => {
      const method = client[pattern]
      assert.ok(method, pattern)
      return method.call(client, args)
    }
    // Another suite may have used the same server.
    for (const id of keys) await run('drop', { id })
    const successes = new Set<string>()
    const calls = JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')) as Call[]
    for (const call of calls) {
      try {
        await run(call.pattern, call.arguments)
        successes.add(call.pattern)
      } catch (error) {
        const status = (error as Status).status
        assert.ok(status === 400 || status === 404 || status === 409, `${JSON.stringify(call)}: ${String(error)}`)
      }
      for (const id of keys) {
        const item = await run('thing', { id })
        assert.deepEqual(plain(item), await stored(name, id), JSON.stringify(call))
      }
    }
    for (const pattern of ['make', 'replace', 'set', 'drop']) assert.ok(successes.has(pattern), pattern)
    assert.ok(successes.size > new Set(calls.map((call) => call.pattern)).size / 2, [...successes].join(' '))
  })
}
