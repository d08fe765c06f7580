// How the rows of a table differ between production and a branch, found by the SQL engine: by primary key where both have the same one,
// otherwise as whole rows.

import type { SqlEngine, SqlTable } from '../../../engines/sql/sql-engine.ts'
import type { Actor } from '../../../model/actor.ts'

export interface ComparedTable {
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
}

export interface Comparison {
  readonly rowsBefore: number
  readonly rowsAfter: number
  readonly added: number
  readonly removed: number
  readonly changed: number
  readonly addedColumns: readonly string[]
  readonly removedColumns: readonly string[]
  /** Values as texts, cut; null is null. `before` and `after` have the values of `columns`. */
  readonly columns: readonly string[]
  readonly samples: readonly Sample[]
  /** Why it was not compared. */
  readonly problem?: string
}

export interface Sample {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly before: readonly (string | null)[] | null
  readonly after: readonly (string | null)[] | null
}

export interface CompareDeps {
  readonly engine: Pick<SqlEngine, 'open'>
  readonly onSession: (projectId: number, ms: number) => void
}

export interface CompareRequest {
  readonly actor: Actor
  /** Undefined: the table does not exist on that side. */
  readonly before: (ComparedTable & { readonly open: () => Promise<SqlTable> }) | undefined
  readonly after: (ComparedTable & { readonly open: () => Promise<SqlTable> }) | undefined
}

const MAX_SAMPLES = 5
const MAX_COLUMNS = 60
const MAX_VALUE = 120
const TIMEOUT_MS = 60_000

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export async function compareTables({ engine, onSession }: CompareDeps, request: CompareRequest): Promise<Comparison> {
  const { actor, before, after } = request
  const columnsBefore = before?.columns ?? []
  const columnsAfter = after?.columns ?? []
  const shared = columnsAfter.filter((name) => columnsBefore.includes(name))
  const session = await engine.open({
    mode: 'read',
    owner: actor,
    findTable: async (_schema, name) => (name === 'before' ? before : after)?.open(),
    onClosed: (ms) => onSession(actor.projectId, ms),
  })
  const count = async (sql: string): Promise<number> => Number((await rows(sql))[0]?.[0] ?? 0)
  const rows = async (sql: string): Promise<(string | null)[][]> => {
    const { bytes } = await session.copy(sql, 'json', { timeoutMs: TIMEOUT_MS })
    const chunks: Buffer[] = []
    for await (const chunk of bytes) chunks.push(Buffer.from(chunk))
    const lines = Buffer.concat(chunks).toString('utf8').split('\n')
    return lines.flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as (string | null)[]])) // texts and counts
  }
  try {
    const rowsBefore = before ? await count('SELECT count(*) FROM "in.c-r"."before"') : 0
    const rowsAfter = after ? await count('SELECT count(*) FROM "in.c-r"."after"') : 0
    const whole = {
      ...{ rowsBefore, rowsAfter },
      addedColumns: columnsAfter.filter((name) => !columnsBefore.includes(name)),
      removedColumns: columnsBefore.filter((name) => !columnsAfter.includes(name)),
    }
    const shown = (before && after ? shared : before ? columnsBefore : columnsAfter).slice(0, MAX_COLUMNS)
    const texts = (alias: string, names: readonly string[] = shown): string =>
      names.map((name) => `left(CAST(${alias}${quoted(name)} AS VARCHAR), ${MAX_VALUE})`).join(', ')
    if (!before || !after) {
      const side = before ? 'before' : 'after'
      const found =
        shown.length === 0 ? [] : await rows(`SELECT ${texts('')} FROM "in.c-r"."${side}" ORDER BY ALL LIMIT ${MAX_SAMPLES}`)
      const sample = (values: (string | null)[]): Sample =>
        before ? { kind: 'removed', before: values, after: null } : { kind: 'added', before: null, after: values }
      return { ...whole, added: rowsAfter, removed: rowsBefore, changed: 0, columns: shown, samples: found.map(sample) }
    }
    const key = after.primaryKey
    const hasKey =
      key.length > 0 && key.length === before.primaryKey.length && key.every((name) => before.primaryKey.includes(name))
    if (shared.length === 0) return { ...whole, added: rowsAfter, removed: rowsBefore, changed: 0, columns: [], samples: [] }
    if (hasKey) return { ...whole, columns: shown, ...(await byKey(key, shared, { count, rows, texts })) }
    return { ...whole, columns: shown, ...(await byRow(shared, { count, rows, texts })) }
  } finally {
    await session.close()
  }
}

interface Ask {
  readonly count: (sql: string) => Promise<number>
  readonly rows: (sql: string) => Promise<(string | null)[][]>
  readonly texts: (alias: string, names?: readonly string[]) => string
}

type Counted = Pick<Comparison, 'added' | 'removed' | 'changed' | 'samples'>

async function byKey(key: readonly string[], shared: readonly string[], { count, rows, texts }: Ask): Promise<Counted> {
  const on = key.map((name) => `CAST(b.${quoted(name)} AS VARCHAR) = CAST(a.${quoted(name)} AS VARCHAR)`).join(' AND ')
  const differs = shared
    .filter((name) => !key.includes(name))
    .map((name) => `CAST(b.${quoted(name)} AS VARCHAR) IS DISTINCT FROM CAST(a.${quoted(name)} AS VARCHAR)`)
  const where = differs.length === 0 ? 'false' : differs.join(' OR ')
  const both = `FROM "in.c-r"."before" b JOIN "in.c-r"."after" a ON ${on} WHERE ${where}`
  const onlyAfter = `FROM "in.c-r"."after" a WHERE NOT EXISTS (SELECT 1 FROM "in.c-r"."before" b WHERE ${on})`
  const onlyBefore = `FROM "in.c-r"."before" b WHERE NOT EXISTS (SELECT 1 FROM "in.c-r"."after" a WHERE ${on})`
  const order = (alias: string): string =>
    `ORDER BY ${key.map((name) => `${alias}${quoted(name)}`).join(', ')} LIMIT ${MAX_SAMPLES}`
  const pairs = await rows(`SELECT ${texts('b.')}, ${texts('a.')} ${both} ${order('a.')}`)
  return {
    added: await count(`SELECT count(*) ${onlyAfter}`),
    removed: await count(`SELECT count(*) ${onlyBefore}`),
    changed: await count(`SELECT count(*) ${both}`),
    samples: [
      ...pairs.map(
        (values): Sample => ({
          kind: 'changed',
          before: values.slice(0, values.length / 2),
          after: values.slice(values.length / 2),
        }),
      ),
      ...(await rows(`SELECT ${texts('a.')} ${onlyAfter} ${order('a.')}`)).map(added),
      ...(await rows(`SELECT ${texts('b.')} ${onlyBefore} ${order('b.')}`)).map(removed),
    ],
  }
}

/** A row that occurs more often on one side counts as often as that. */
async function byRow(shared: readonly string[], { count, rows, texts }: Ask): Promise<Counted> {
  const all = shared.map((name) => `CAST(${quoted(name)} AS VARCHAR) AS ${quoted(name)}`).join(', ')
  const minus = (one: string, other: string): string =>
    `(SELECT ${all} FROM "in.c-r"."${one}" EXCEPT ALL SELECT ${all} FROM "in.c-r"."${other}")`
  const sampled = (from: string) => rows(`SELECT ${texts('')} FROM ${from} ORDER BY ALL LIMIT ${MAX_SAMPLES}`)
  return {
    added: await count(`SELECT count(*) FROM ${minus('after', 'before')}`),
    removed: await count(`SELECT count(*) FROM ${minus('before', 'after')}`),
    changed: 0,
    samples: [...(await sampled(minus('after', 'before'))).map(added), ...(await sampled(minus('before', 'after'))).map(removed)],
  }
}

const added = (after: (string | null)[]): Sample => ({ kind: 'added', before: null, after })
const removed = (before: (string | null)[]): Sample => ({ kind: 'removed', before, after: null })
