// When the stack does not find what a command names: the id that was probably meant, or those there are.

/** What a request named, the outer first: a configuration can only be looked for in a component that exists. */
interface Named {
  readonly what: string
  readonly id: string
  /** The address of the list that should hold it. */
  readonly list: string
}

export type Get = (path: string) => Promise<unknown>

const SHOWN = 8

/** A sentence with a space before it, or nothing. */
export async function suggestion(get: Get, path: string, body: unknown): Promise<string> {
  for (const { what, id, list } of namesIn(path, body)) {
    const ids = idsOf(await get(list).catch(() => undefined))
    if (ids === undefined || ids.includes(id)) continue
    const near = nearest(id, ids)
    if (near !== undefined) return ` Did you mean ${near}?`
    if (ids.length === 0) return ` No ${what} exists yet.`
    return ids.length <= SHOWN ? ` There ${ids.length === 1 ? 'is' : 'are'}: ${ids.join(', ')}.` : ''
  }
  return ''
}

function namesIn(path: string, body: unknown): Named[] {
  const [, branch = ''] = /^\/v2\/storage(\/branch\/[^/]+)?/.exec(path) ?? []
  const partAfter = (word: string): string | undefined => {
    const [, part] = new RegExp(`/${word}/([^/?]+)`).exec(path) ?? []
    return part === undefined ? undefined : decodeURIComponent(part)
  }
  const { component = partAfter('components'), config = partAfter('configs') } = isObject(body) ? body : {}
  const storage = `/v2/storage${branch}`
  const configs = `${storage}/components/${encodeURIComponent(String(component))}/configs`
  const found = [
    { what: 'component', id: component, list: '/v2/storage' },
    { what: 'configuration', id: config, list: configs },
    { what: 'row', id: partAfter('rows'), list: `${configs}/${encodeURIComponent(String(config))}/rows` },
    { what: 'bucket', id: partAfter('buckets'), list: `${storage}/buckets` },
    { what: 'table', id: partAfter('tables'), list: `${storage}/tables` },
  ]
  return found.filter((one): one is Named => typeof one.id === 'string')
}

/** The index of the stack holds components; every other answer is a list of records. */
function idsOf(answer: unknown): readonly string[] | undefined {
  const records = isObject(answer) ? answer.components : answer
  if (!Array.isArray(records)) return undefined
  return records.flatMap((one: unknown) => (isObject(one) && one.id !== undefined ? [String(one.id)] : []))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The id that differs in the fewest characters, when these are not most of it. */
export function nearest(text: string, ids: readonly string[]): string | undefined {
  const max = Math.max(1, Math.round(Math.min(text.length, 20) * 0.4))
  const ranked = ids
    .map((id) => ({
      id,
      changes: id.includes(text) && text.length > 2 ? 0 : changesBetween(text.toLowerCase(), id.toLowerCase()),
    }))
    .filter(({ changes }) => changes <= max)
  return ranked.sort((a, b) => a.changes - b.changes)[0]?.id
}

/** How many characters have to be added, taken away or replaced (Levenshtein). */
function changesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (letter === b[j - 1] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}
