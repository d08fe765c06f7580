// One delivery: the rows of a table of the project into a table of a database, in one transaction.

import { counted } from '../../../contract/counted.ts'
import { quoted } from '../../connector-kit/src/database/quoting.ts'
import { batchesOf, type Cells, type InputTable } from '../../connector-kit/src/input-table.ts'
import { createOutputTable, type OutputTable } from '../../connector-kit/src/output-table.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { Delivery } from './configuration.ts'
import { type Plan, type PlannedColumn, placesOf, planOf } from './plan.ts'
import { isRowProblem, messageOf } from './row-problem.ts'
import type { StageColumn, Target } from './targets/target.ts'

export interface Counts {
  readonly inserted: number
  readonly updated: number
  readonly deleted: number
  readonly rejected: number
}

export interface Delivered extends Counts {
  readonly rows: number
  readonly plan: Plan
  /** First rows with what is done with them; of a dry run. */
  readonly sample: readonly SampleRow[]
}

export interface SampleRow {
  readonly operation: string
  readonly values: Readonly<Record<string, string | null>>
}

interface Work {
  readonly target: Target
  readonly delivery: Delivery
  readonly input: InputTable
  readonly plan: Plan
  /** For statements. */
  readonly table: string
  readonly rejects: Rejects
}

/** Rows that are refused. */
export interface Rejects {
  readonly count: number
  readonly first: string
  add(row: Cells, message: string): Promise<void>
}

export const NOTHING: Counts = { inserted: 0, updated: 0, deleted: 0, rejected: 0 }
const STAGE = 'millrace_stage'
const RAW = 'millrace_raw'
const FLAG = 'd'
export const SAMPLE_ROWS = 10

/** `onCommit` is called before the changes are made to stay. */
export async function deliver(
  target: Target,
  delivery: Delivery,
  input: InputTable,
  dataDir: string,
  onCommit: () => void,
): Promise<Delivered> {
  const plan = await planOf(target, delivery, input)
  const table = target.nameOf(delivery.table)
  if (!plan.exists && target.commitsDefinitions) await create(target, table, plan)
  await target.begin()
  const output = delivery.invalidRows === 'reject' ? await rejectedTable(dataDir, delivery, plan) : undefined
  try {
    if (!plan.exists && !target.commitsDefinitions) await create(target, table, plan)
    if (delivery.preSql !== '') await target.script(delivery.preSql)
    const work = { target, delivery, input, plan, table, rejects: rejectsInto(output) }
    const { rows, ...counts } = await send(work)
    if (delivery.postSql !== '') await target.script(delivery.postSql)
    onCommit()
    await target.commit()
    return { ...counts, rows, plan, sample: [] }
  } catch (error) {
    await target.rollback().catch(() => {}) // the connection may be lost; then nothing stays either
    throw error
  } finally {
    await output?.close()
  }
}

/** What a delivery would do. Only tables of the session are written, and no statement of a person runs. */
export async function tryOut(target: Target, delivery: Delivery, input: InputTable): Promise<Delivered> {
  const plan = await planOf(target, delivery, input)
  if (!plan.exists) {
    let rows = 0
    const sample: SampleRow[] = []
    for await (const batch of batchesOf(input)) {
      rows += batch.length
      for (const row of batch.slice(0, SAMPLE_ROWS - sample.length))
        sample.push({
          operation: 'insert',
          values: Object.fromEntries(plan.columns.map(({ at, target: { name } }) => [name, row[at] ?? null])),
        })
    }
    return { ...NOTHING, inserted: rows, rows, plan, sample }
  }
  await target.begin()
  try {
    const table = target.nameOf(delivery.table)
    const work = { target, delivery, input, plan, table, rejects: rejectsInto(undefined) }
    const rows = await stage(work, true)
    const [counts, sample] = [await expected(work), await sampleOf(work)]
    return { ...counts, rejected: work.rejects.count, rows, plan, sample }
  } finally {
    await target.rollback()
  }
}

async function create(target: Target, table: string, { columns, key }: Plan): Promise<void> {
  const definitions = columns.map(({ target: { name }, type, isKey }) => `${quoted(name)} ${type}${isKey ? ' not null' : ''}`)
  const keyed = key.length > 0 ? [`primary key (${key.map(({ target: { name } }) => quoted(name)).join(', ')})`] : []
  await target.execute(`create table ${table} (${[...definitions, ...keyed].join(', ')})`)
}

async function send(work: Work): Promise<Counts & { readonly rows: number }> {
  const { target, delivery, input, plan, table, rejects } = work
  if (await canGoStraight(work)) {
    const places = placesOf(plan, input, delivery, (column) => column.target.name)
    const deleted = delivery.direct ? await emptied(work) : 0
    const rows = await target.load(input, table, places, false)
    return { ...NOTHING, inserted: rows, deleted, rows }
  }
  const isNumbered = delivery.invalidRows === 'reject'
  const rows = await stage(work, isNumbered)
  await target.lock(table)
  let total: Counts = NOTHING
  if (delivery.mode === 'full') total = { ...total, deleted: await emptied(work) }
  const apply = async (range: string) => {
    total = sum(total, await applyRange(work, range))
  }
  if (isNumbered && target.hasSavepoints) await eachGoodRow(work, rows, apply)
  else await apply('true') // the stage has good rows only
  return { ...total, rejected: rejects.count, rows }
}

/** Answers how many rows there were. */
async function emptied({ target, table }: Work): Promise<number> {
  const [[before] = []] = await target.ask(`select count(*) from ${table}`)
  await target.empty(table)
  return Number(before)
}

/** Rows that only have to be inserted need no stage: the transaction takes them back if one is refused. */
async function canGoStraight({ target, delivery: { mode, invalidRows, direct }, table }: Work): Promise<boolean> {
  if (invalidRows === 'reject') return false
  if (mode === 'insert') return true
  if (mode !== 'full') return false
  await target.lock(table)
  return direct || (await target.ask(`select 1 from ${table} limit 1`)).length === 0
}

/** All rows, in a table of the session with the types of the target. */
async function stage(work: Work, isNumbered: boolean): Promise<number> {
  const { target, delivery, input, plan, table } = work
  const flag: readonly StageColumn[] = plan.deletedAt === undefined ? [] : [{ name: FLAG, like: undefined }]
  const typed = plan.columns.map(({ staged, target: { name } }) => ({ name: staged, like: name }))
  await target.makeStage(STAGE, [...typed, ...flag], table, isNumbered)
  const places = placesOf(plan, input, delivery, ({ staged }) => staged, FLAG)
  let rows: number
  if (delivery.invalidRows === 'reject') {
    await target.makeStage(
      RAW,
      [...typed, ...flag].map(({ name }) => ({ name, like: undefined })),
      table,
      true,
    )
    rows = await target.load(input, RAW, places, true)
    const names = [...plan.columns.map(({ staged }) => staged), ...flag.map(({ name }) => name)]
    const values = [
      ...plan.columns.map((column) => target.converted(column.staged, column.target)),
      ...flag.map(({ name }) => name),
    ]
    await eachGoodRow(work, rows, async (range) => {
      await target.stages.execute(
        `insert into ${STAGE} (n, ${names.join(', ')}) select n, ${values.join(', ')} from ${RAW} as s where ${range}`,
      )
    })
  } else rows = await target.load(input, STAGE, places, isNumbered)
  if (delivery.mode !== 'full' && delivery.mode !== 'insert') await target.analyze(STAGE) // the others join nothing
  if (delivery.mode === 'upsert' || delivery.mode === 'delete') await refuseBadKeys(work)
  return rows
}

async function refuseBadKeys({ target, plan: { key }, input }: Work): Promise<void> {
  return refuseKeysOf(STAGE, target.ask, key, input)
}

/** Rows without a value in the key, or with the same. */
export async function refuseKeysOf(
  stage: string,
  ask: Target['ask'],
  key: readonly PlannedColumn[],
  input: InputTable,
): Promise<void> {
  const names = key.map(({ target: { name } }) => name).join(', ')
  const [[without] = []] = await ask(
    `select count(*) from ${stage} where ${key.map(({ staged }) => `${staged} is null`).join(' or ')}`,
  )
  if (Number(without) > 0) throw new UserError(`${without} rows have no value in the key (${names}).`)
  const isUnique = input.primaryKey.length > 0 && input.primaryKey.every((name) => key.some(({ source }) => source.name === name))
  if (isUnique) return
  const [[twice] = []] = await ask(
    `select count(*) from (select 1 from ${stage} group by ${key.map(({ staged }) => staged).join(', ')} having count(*) > 1) as repeated`,
  )
  if (Number(twice) > 0)
    throw new UserError(`${twice} values of the key (${names}) are in more than one row. Choose a key that is unique.`)
}

const isFlagged = `coalesce(lower(s.${FLAG}) in ('true', 't', '1', 'yes', 'y', 'delete'), false)`
const isKept = ({ deletedAt }: Plan): string => (deletedAt === undefined ? 'true' : `not ${isFlagged}`)

const matchOf = ({ key }: Plan): string =>
  key.map(({ target: { name }, staged }) => `t.${quoted(name)} = s.${staged}`).join(' and ')

function differenceOf({ target, plan: { columns } }: Work): string | undefined {
  const others = columns.filter(({ isKey }) => !isKey)
  if (others.length === 0) return undefined
  return `(${others.map((column) => target.differ(`t.${quoted(column.target.name)}`, `s.${column.staged}`, column.target)).join(' or ')})`
}

async function applyRange(work: Work, range: string): Promise<Counts> {
  const { target, delivery, plan, table } = work
  const match = matchOf(plan)
  const names = plan.columns.map((column) => quoted(column.target.name)).join(', ')
  const values = plan.columns.map(({ staged }) => `s.${staged}`).join(', ')
  const insert = `insert into ${table} (${names}) select ${values} from ${STAGE} as s where ${range}`
  if (delivery.mode === 'full' || delivery.mode === 'insert') return { ...NOTHING, inserted: await target.execute(insert) }
  const inStage = (condition: string) => `exists (select 1 from ${STAGE} as s where ${match} and ${range} and ${condition})`
  if (delivery.mode === 'delete') return { ...NOTHING, deleted: await target.execute(target.remove(table, inStage('true'))) }
  const deleted = plan.deletedAt === undefined ? 0 : await target.execute(target.remove(table, inStage(isFlagged)))
  const difference = differenceOf(work)
  const assignments = plan.columns
    .filter(({ isKey }) => !isKey)
    .map((column) => ({ column: quoted(column.target.name), value: `s.${column.staged}` }))
  const updated =
    difference === undefined
      ? 0
      : await target.execute(
          target.update({
            target: table,
            stage: STAGE,
            match,
            assignments,
            where: `${range} and ${isKept(plan)} and ${difference}`,
          }),
        )
  const inserted = await target.execute(
    `${insert} and ${isKept(plan)} and not exists (select 1 from ${table} as t where ${match})`,
  )
  return { ...NOTHING, inserted, updated, deleted }
}

/** The same by questions alone. */
async function expected(work: Work): Promise<Counts> {
  const { target, delivery, plan, table } = work
  const count = async (sql: string): Promise<number> => Number((await target.ask(sql))[0]?.[0] ?? 0)
  const staged = `select count(*) from ${STAGE} as s`
  if (delivery.mode === 'insert') return { ...NOTHING, inserted: await count(staged) }
  if (delivery.mode === 'full')
    return { ...NOTHING, inserted: await count(staged), deleted: await count(`select count(*) from ${table}`) }
  const match = matchOf(plan)
  const there = `exists (select 1 from ${table} as t where ${match})`
  if (delivery.mode === 'delete') return { ...NOTHING, deleted: await count(`${staged} where ${there}`) }
  const difference = differenceOf(work)
  return {
    inserted: await count(`${staged} where ${isKept(plan)} and not ${there}`),
    updated:
      difference === undefined
        ? 0
        : await count(`${staged} join ${table} as t on ${match} where ${isKept(plan)} and ${difference}`),
    deleted: plan.deletedAt === undefined ? 0 : await count(`${staged} where ${isFlagged} and ${there}`),
    rejected: 0,
  }
}

async function sampleOf(work: Work): Promise<readonly SampleRow[]> {
  const { target, delivery, plan, table } = work
  const values = plan.columns.map(({ staged }) => `s.${staged}`).join(', ')
  const operation = operationOf(work)
  const join =
    plan.key.length > 0 && (delivery.mode === 'upsert' || delivery.mode === 'delete')
      ? ` left join ${table} as t on ${matchOf(plan)}`
      : ''
  const rows = await target.ask(`select ${operation}, ${values} from ${STAGE} as s${join} order by s.n limit ${SAMPLE_ROWS}`)
  return rows.map(([done, ...cells]) => ({
    operation: done ?? '',
    values: Object.fromEntries(plan.columns.map(({ target: { name } }, at) => [name, cells[at] ?? null])),
  }))
}

function operationOf(work: Work): string {
  const { delivery, plan } = work
  if (delivery.mode === 'full' || delivery.mode === 'insert') return "'insert'"
  const isThere = `t.${quoted((plan.key[0] as PlannedColumn).target.name)} is not null` // these modes have a key
  if (delivery.mode === 'delete') return `case when ${isThere} then 'delete' else 'nothing' end`
  const flagged =
    plan.deletedAt === undefined ? '' : `when ${isFlagged} then case when ${isThere} then 'delete' else 'nothing' end `
  const difference = differenceOf(work)
  const changed = difference === undefined ? '' : `when ${difference} then 'update' `
  return `case ${flagged}when not (${isThere}) then 'insert' ${changed}else 'nothing' end`
}

/** Halves what the database refuses, until single rows are left; those are rejected. */
async function eachGoodRow(work: Work, rows: number, apply: (range: string) => Promise<void>): Promise<void> {
  const { target, rejects, plan, delivery } = work
  const mark = async (statement: string): Promise<void> => {
    if (target.hasSavepoints) await target.execute(statement)
  }
  const attempt = async (from: number, to: number): Promise<void> => {
    await mark('savepoint part')
    try {
      await apply(`s.n between ${from} and ${to}`)
      await mark('release savepoint part')
    } catch (error) {
      if (!isRowProblem(error)) throw error
      await mark('rollback to savepoint part')
      if (from < to) {
        const middle = Math.floor((from + to) / 2)
        await attempt(from, middle)
        return attempt(middle + 1, to)
      }
      const [row = []] = await target.stages.ask(
        `select ${plan.columns.map(({ staged }) => staged).join(', ')} from ${RAW} where n = ${from}`,
      )
      await rejects.add(row, messageOf(error))
      refuseMany(rejects, rows, delivery)
    }
  }
  if (rows > 0) await attempt(1, rows)
}

export function refuseMany({ count, first }: Rejects, rows: number, { maxRejected }: Delivery): void {
  if (count > (rows * maxRejected) / 100)
    throw new UserError(
      `${counted(count, 'row')} rejected, which is more than ${maxRejected} % of ${rows}; nothing was written. The first: ${first}`,
    )
}

export function rejectsInto(output: OutputTable | undefined): Rejects {
  let [count, first] = [0, '']
  return {
    get count() {
      return count
    },
    get first() {
      return first
    },
    async add(row, message) {
      if (count === 0) first = message
      count++
      await output?.write([...row, message])
    },
  }
}

export const rejectedTable = (dataDir: string, { table }: Delivery, { columns }: Plan): Promise<OutputTable> =>
  createOutputTable(
    dataDir,
    `${table.name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 80)}_rejected`,
    [
      ...columns.map(({ source }) => ({ name: source.name, base: 'STRING' as const })),
      { name: 'delivery_error', base: 'STRING' },
    ],
    { always: true },
  )

const sum = (a: Counts, b: Counts): Counts => ({
  inserted: a.inserted + b.inserted,
  updated: a.updated + b.updated,
  deleted: a.deleted + b.deleted,
  rejected: a.rejected + b.rejected,
})
