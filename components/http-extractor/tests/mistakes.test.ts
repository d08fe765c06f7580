// Configurations with mistakes, by the thousand: those of the documentation with one key misspelt or one value of the wrong kind. The
// run ends with a message for the user, or continues and has named the key; it never ends with a stack trace.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { UserError } from '../src/errors.ts'
import { extract } from './harness.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 10_000 : 500

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Path = readonly (string | number)[]

const markdown = readFileSync(new URL('../../../docs/extractor.md', import.meta.url), 'utf8')
const configurations = [...markdown.matchAll(/^```json config\n([\s\S]*?)^```$/gm)].map((match) => JSON.parse(match[1]!) as Json)

/** Below these every key is the user's own. */
const FREE = new Set(['params', 'headers', 'query', 'userData', 'placeholders', 'args', 'baseUrl', 'iterations', 'primaryKey'])
const CONTAINERS = new Set(['mappings', 'tableMapping', 'scrollers'])

function* pathsOf(value: Json, path: Path = []): Generator<Path> {
  if (typeof value !== 'object' || value === null) return
  const last = path.at(-1)
  if (FREE.has(String(last))) return
  for (const [key, member] of Object.entries(value)) {
    const here = [...path, Array.isArray(value) ? Number(key) : key]
    const isNamedByUser = Array.isArray(value) || CONTAINERS.has(String(last)) || path.at(-2) === 'mappings'
    if (!isNamedByUser) yield here
    yield* pathsOf(member, here)
  }
}

function changed(value: Json, [key, ...rest]: Path, change: (holder: { [key: string]: Json }, key: string) => void): Json {
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as { [key: string]: Json }
  if (rest.length === 0) change(copy, String(key))
  else copy[key!] = changed(copy[key!]!, rest, change)
  return copy
}

const misspelt = (key: string, at: number) => {
  const i = at % key.length
  return [key.slice(0, i) + key.slice(i + 1), `${key.slice(0, i)}x${key.slice(i)}`, `${key}s`, key.toUpperCase()][at % 4]!
}

const wrong = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    '',
    'x',
    '0',
    [],
    {},
    [[]],
    ['x'],
    { x: 1 },
    { function: 'x' },
    { attr: 'x' },
  ),
  fc.json({ maxDepth: 2 }).map((text) => JSON.parse(text) as Json),
)
const place = fc
  .constantFrom(...configurations)
  .chain((config) => fc.record({ config: fc.constant(config), path: fc.constantFrom(...pathsOf(config)) }))

/** No answer is recorded, so a run that comes to its first request ends there. */
async function attempt(config: Json) {
  const { error, log } = await extract(config, { archive: '' })
  if (error !== undefined) assert.ok(error instanceof UserError, error.stack)
  const isConfigured = error === undefined || error.message.startsWith('The archive holds no')
  return { log, isConfigured }
}

test('a misspelt key is named, or the run is refused', async () => {
  await fc.assert(
    fc.asyncProperty(place, fc.nat({ max: 40 }), async ({ config, path }, at) => {
      const key = String(path.at(-1))
      const other = misspelt(key, at)
      const { log, isConfigured } = await attempt(
        changed(config, path, (holder) => {
          const entries = Object.entries(holder).map(([name, value]) => [name === key ? other : name, value])
          for (const name of Object.keys(holder)) delete holder[name]
          Object.assign(holder, Object.fromEntries(entries))
        }),
      )
      if (/^(username|password)$/.test(other)) return // an old spelling that is still read
      const isRead = JSON.stringify(config).includes(`"attr":"${key}`) // an attribute: the expression that misses it reports it
      if (isConfigured && !isRead)
        assert.ok(
          log.includes(other) || log.includes(`has no '${key}'`),
          `${path.join('.')} as ${other} was passed over:\n${log}`,
        )
    }),
    { numRuns: ROUNDS },
  )
})

test('a value of the wrong kind is refused with a sentence, or means something', async () => {
  await fc.assert(
    fc.asyncProperty(place, wrong, async ({ config, path }, value) => {
      await attempt(
        changed(config, path, (holder, key) => {
          holder[key] = value
        }),
      )
    }),
    { numRuns: ROUNDS },
  )
})
