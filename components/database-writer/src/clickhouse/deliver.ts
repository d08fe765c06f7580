// One delivery to ClickHouse, which has no transactions. Rows are checked here and loaded into a table of their own beside the target, so that
// nothing has changed when one is refused or the connection is lost; only complete rows are then moved to the target. `full` exchanges tables.

import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import {
  type Clickhouse,
  clickhouseLiteral,
  createClickhouse,
  fieldOf,
  fractionOf,
  plainType,
} from '../../../connector-kit/src/database/clickhouse.ts'
import type { ServerSettings } from '../../../connector-kit/src/database/connection.ts'
import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import { batchesOf, type InputColumn, type InputTable } from '../../../connector-kit/src/input-table.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Delivery } from '../configuration.ts'
import {
  type Counts,
  NOTHING,
  type Rejects,
  refuseKeysOf,
  refuseMany,
  rejectedTable,
  rejectsInto,
  SAMPLE_ROWS,
  type SampleRow,
} from '../deliver.ts'
import { type Plan, placesOf, planOf } from '../plan.ts'
import { cellsFor } from '../targets/cells.ts'
import type { TableName } from '../targets/target.ts'
import type { Writer } from '../writer.ts'
import { checkOf, isNullable } from './fit.ts'
import { statementsOf } from './script.ts'

const FLAG = 'd'
const NUMBER = 'n'
const POLL_MS = 200
const MAX_HOURS = 5

interface Work {
  readonly clickhouse: Clickhouse
  readonly delivery: Delivery
  readonly input: InputTable
  readonly plan: Plan
  /** Tables of this delivery, for statements. */
  readonly names: Names
  readonly rejects: Rejects
}

interface Names {
  /** Part of the name of each table but the target. */
  readonly own: string
  readonly target: string
  /** What is delivered. */
  readonly stage: string
  /** Rows of it that are new or changed. */
  readonly changed: string
  /** A `full` delivery, and what it replaces. */
  readonly next: string
  readonly former: string
}

/** Rows of one configuration row are never delivered twice at once, so a delivery finds and removes what one that was killed has left. */
export function openClickhouse(settings: ServerSettings, guard: EgressGuard): Writer {
  const clickhouse = createClickhouse(settings, guard)
  const nameOf = ({ schema, name }: TableName) => {
    if (/["\\]/.test(schema + name)) throw new UserError('table must not have quotation marks and backslashes in its names.')
    return `${quoted(schema || settings.database)}.${quoted(name)}`
  }
  const target = {
    nameOf,
    typeFor: ({ base, length, nullable }: InputColumn, isKey: boolean) => {
      const type = base === 'NUMERIC' && length ? `Decimal(${length})` : TYPES[base]
      return nullable && !isKey ? `Nullable(${type})` : type
    },
    async describe(table: TableName) {
      const found = await existing(clickhouse, nameOf(table))
      return found?.map(({ name, native }) => ({ name, native, isText: isText(native), isOptional: true })) // it has a default
    },
  }
  const namesOf = ({ table }: Delivery): Names => {
    const { KBC_PROJECTID: project, KBC_BRANCHID: branch, KBC_CONFIGID: config, KBC_CONFIGROWID: row } = process.env
    const own = createHash('sha256')
      .update(JSON.stringify([project, branch, config, row, table]))
      .digest('hex')
      .slice(0, 16)
    const beside = (what: string) => nameOf({ schema: table.schema, name: `millrace_${what}_${own}` })
    return {
      own,
      target: nameOf(table),
      stage: beside('stage'),
      changed: beside('changed'),
      next: beside('next'),
      former: beside('former'),
    }
  }

  async function planned(delivery: Delivery, input: InputTable): Promise<Plan> {
    if (delivery.direct) throw new UserError('direct is not for ClickHouse, which cannot undo the emptying of a table.')
    const plan = await planOf(target, delivery, input)
    const odd = plan.columns.find(({ target: { name } }) => /["\\]/.test(name))
    if (odd) throw new UserError(`The column ${odd.target.name} must not have quotation marks and backslashes in its name.`)
    if (delivery.mode === 'full' && plan.exists) await refuseOtherEngines(clickhouse, delivery.table)
    return plan
  }

  return {
    async deliver(delivery, input, dataDir, onCommit) {
      const names = namesOf(delivery)
      await restore(clickhouse, names)
      const plan = await planned(delivery, input)
      if (!plan.exists) await clickhouse.execute(creationOf(names.target, plan))
      for (const statement of statementsOf(delivery.preSql)) await clickhouse.execute(statement)
      const output = delivery.invalidRows === 'reject' ? await rejectedTable(dataDir, delivery, plan) : undefined
      const rejects = rejectsInto(output)
      let tidy = clear
      try {
        const work: Work = { clickhouse, delivery, input, plan, names, rejects }
        await clickhouse.execute(`create table ${names.stage} (${stageOf(plan)}) engine = MergeTree order by tuple()`)
        const rows = await load(work)
        const counts = await apply(work, () => {
          tidy = clearUnused
          onCommit()
        })
        tidy = clear
        for (const statement of statementsOf(delivery.postSql)) await clickhouse.execute(statement)
        return { ...counts, rejected: rejects.count, rows, plan, sample: [] }
      } finally {
        await output?.close()
        await tidy(clickhouse, names).catch(() => {}) // the next delivery does it
      }
    },
    async tryOut(delivery, input) {
      const plan = await planned(delivery, input)
      // Tables of a session are in memory and invisible to others.
      const stage = `millrace_${crypto.randomUUID().replaceAll('-', '')}`
      const session = createClickhouse(settings, guard, stage)
      const names = { ...namesOf(delivery), stage }
      await session.execute(`create temporary table ${stage} (${stageOf(plan)})`)
      const work: Work = { clickhouse: session, delivery, input, plan, names, rejects: rejectsInto(undefined) }
      try {
        const rows = await load(work)
        return { ...(await expected(work)), rejected: work.rejects.count, rows, plan, sample: await sampleOf(work) }
      } finally {
        await session.execute(`drop table if exists ${stage}`)
      }
    },
    testConnection: async () => void (await clickhouse.ask('select 1')),
    close: async () => {},
  }
}

const TYPES = {
  ...{ STRING: 'String', INTEGER: 'Int64', NUMERIC: 'Decimal(38, 9)', FLOAT: 'Float64' },
  ...{ BOOLEAN: 'Bool', DATE: 'Date32', TIMESTAMP: "DateTime64(6, 'UTC')" },
} as const satisfies Record<InputColumn['base'], string>

const isList = (native: string): boolean => /^(Array|Map|Tuple|Nested)\(/.test(native)
const isText = (native: string): boolean => /^(String|FixedString)/.test(plainType(native))
const UNKNOWN_TABLE = 'CLICKHOUSE_60'
const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code

/** Columns that rows can be inserted into; undefined: the table does not exist. */
async function existing({ ask }: Clickhouse, name: string) {
  try {
    const [names = [], types = []] = await ask(`select * from ${name} limit 0`, 'TabSeparatedWithNamesAndTypes')
    return names.map((column, at) => ({ name: column ?? '', native: types[at] ?? '' }))
  } catch (error) {
    if (codeOf(error) === UNKNOWN_TABLE) return undefined
    throw error
  }
}

const creationOf = (name: string, { columns, key }: Plan): string =>
  `create table ${name} (${columns.map(({ target, type }) => `${quoted(target.name)} ${type}`).join(', ')})
   engine = MergeTree order by ${key.length === 0 ? 'tuple()' : `(${key.map(({ target }) => quoted(target.name)).join(', ')})`}`

/** Columns as in the target, but times in UTC, as the rows have them. */
function stageOf({ columns, deletedAt }: Plan): string {
  const types = columns.map(({ staged, target: { native } }) => {
    const fraction = fractionOf(plainType(native))
    const zoned =
      fraction === undefined
        ? plainType(native)
        : native.includes('DateTime64')
          ? `DateTime64(${fraction}, 'UTC')`
          : "DateTime('UTC')"
    return `${staged} ${isNullable(native) ? `Nullable(${zoned})` : zoned}`
  })
  return [`${NUMBER} UInt64`, ...types, ...(deletedAt === undefined ? [] : [`${FLAG} Nullable(String)`])].join(', ')
}

/** After a delivery that was killed, between the two renames of an older server or while one of its statements continued. */
async function restore(clickhouse: Clickhouse, names: Names): Promise<void> {
  const found = await Promise.all(tablesOf(names).map((name) => existing(clickhouse, name)))
  if (found.every((one) => one === undefined)) return
  await until(async () => !(await isUsed(clickhouse, names)), `statements of a former delivery to ${names.target}`)
  if ((await existing(clickhouse, names.former)) && !(await existing(clickhouse, names.target)))
    await clickhouse.execute(`rename table ${names.former} to ${names.target}`)
  await clear(clickhouse, names)
}

/** A mutation whose tables are dropped never ends, and holds up all later ones; an INSERT would add rows that are delivered again. */
async function isUsed({ ask }: Clickhouse, { own }: Names): Promise<boolean> {
  // In two parts, because this statement is one of system.processes, too.
  const isOwn = (text: string) => `position(${text}, concat('${own.slice(0, 8)}', '${own.slice(8)}')) > 0`
  const [[mutations] = []] = await ask(`select count() from system.mutations where not is_done and ${isOwn('command')}`)
  const [[processes] = []] = await ask(`select count() from system.processes where ${isOwn('query')}`)
  return Number(mutations) + Number(processes) > 0
}

async function clearUnused(clickhouse: Clickhouse, names: Names): Promise<void> {
  if (!(await isUsed(clickhouse, names))) await clear(clickhouse, names)
}

const tablesOf = ({ stage, changed, next, former }: Names): readonly string[] => [stage, changed, next, former]

async function clear({ execute }: Clickhouse, names: Names): Promise<void> {
  for (const name of tablesOf(names)) await execute(`drop table if exists ${name}`)
}

/** Answers the number of rows, with those that are rejected. */
async function load({ clickhouse, delivery, input, plan, names: { stage }, rejects }: Work): Promise<number> {
  const places = placesOf(plan, input, delivery, ({ staged }) => staged, FLAG)
  const toCells = cellsFor(places)
  const columns = places.flatMap((place) => (place ? [place.column] : []))
  const planned = columns.flatMap((name) => plan.columns.filter(({ staged }) => staged === name))
  const problemOf = checkOf(planned.map((column) => ({ ...column, at: columns.indexOf(column.staged) })))
  const lists = columns.map((name) => planned.some(({ staged, target: { native } }) => staged === name && isList(native)))
  let rows = 0
  async function* lines(): AsyncGenerator<string> {
    for await (const batch of batchesOf(input)) {
      let text = ''
      for (const row of batch) {
        rows++
        const cells = toCells(row)
        const problem = problemOf(cells)
        if (problem === undefined) text += `${rows}\t${cells.map((cell, at) => fieldOf(cell, lists[at])).join('\t')}\n`
        else if (delivery.invalidRows === 'reject')
          await rejects.add(
            plan.columns.map(({ at }) => row[at] ?? null),
            problem,
          )
        else
          throw new UserError(
            `Row ${rows} does not fit: ${problem}. Nothing was written. With "invalidRows": "reject" such rows become a table.`,
          )
      }
      if (text !== '') yield text
    }
  }
  await clickhouse.execute(`insert into ${stage} (${[NUMBER, ...columns].join(', ')})`, lines())
  refuseMany(rejects, rows, delivery)
  const [[loaded] = []] = await clickhouse.ask(`select count() from ${stage}`)
  if (Number(loaded) !== rows - rejects.count)
    throw new UserError(`ClickHouse has ${loaded} of ${rows - rejects.count} rows that were sent. Nothing was written.`)
  return rows
}

const isFlagged = `lower(ifNull(${FLAG}, '')) in ('true', 't', '1', 'yes', 'y', 'delete')`

/** Parts of statements over the stage, without an alias. */
function partsOf({ plan, names }: Work) {
  const tuple = (names: readonly string[]) => (names.length === 1 ? (names[0] ?? '') : `(${names.join(', ')})`)
  const keys = tuple(plan.key.map(({ target }) => quoted(target.name)))
  const stagedKeys = tuple(plan.key.map(({ staged }) => staged))
  const there = `select ${keys} from ${names.target} where ${keys} in (select ${stagedKeys} from ${names.stage})`
  // As texts that are never NULL, which IN would not find.
  const text = (expression: string, native: string) =>
    `ifNull(concat('v', toString(${fractionOf(plainType(native)) === undefined ? expression : `toTimeZone(${expression}, 'UTC')`})), 'n')`
  const others = plan.columns.filter(({ isKey }) => !isKey)
  const whole = [
    ...plan.key.map(({ target }) => quoted(target.name)),
    ...others.map(({ target }) => text(quoted(target.name), target.native)),
  ]
  const stagedWhole = [
    ...plan.key.map(({ staged }) => staged),
    ...others.map(({ staged, target }) => text(staged, target.native)),
  ]
  const equal = `select ${tuple(whole)} from ${names.target} where ${keys} in (select ${stagedKeys} from ${names.stage})`
  return {
    keys,
    stagedKeys,
    flagged: plan.deletedAt === undefined ? '1 = 0' : isFlagged,
    isThere: plan.exists ? `${stagedKeys} in (${there})` : '1 = 0',
    isEqual: plan.exists ? `${tuple(stagedWhole)} in (${equal})` : '1 = 0',
    columns: plan.columns.map(({ target }) => quoted(target.name)).join(', '),
    staged: plan.columns.map(({ staged }) => staged).join(', '),
  }
}

const countOf = async ({ clickhouse }: Work, from: string): Promise<number> =>
  Number((await clickhouse.ask(`select count() from ${from}`))[0]?.[0] ?? 0)

/** What is done, before it is done. */
async function expected(work: Work): Promise<Counts> {
  const { plan, names, delivery, clickhouse, input } = work
  const { flagged, isThere, isEqual } = partsOf(work)
  const { stage } = names
  if (delivery.mode === 'insert' || delivery.mode === 'full')
    return {
      ...NOTHING,
      inserted: await countOf(work, stage),
      deleted: delivery.mode === 'full' && plan.exists ? await countOf(work, names.target) : 0,
    }
  await refuseKeysOf(stage, clickhouse.ask, plan.key, input)
  if (delivery.mode === 'delete') return { ...NOTHING, deleted: await countOf(work, `${stage} where ${isThere}`) }
  return {
    ...NOTHING,
    inserted: await countOf(work, `${stage} where not (${flagged}) and not (${isThere})`),
    updated: await countOf(work, `${stage} where not (${flagged}) and ${isThere} and not (${isEqual})`),
    deleted: await countOf(work, `${stage} where ${flagged} and ${isThere}`),
  }
}

async function apply(work: Work, onCommit: () => void): Promise<Counts> {
  const { clickhouse, delivery, names } = work
  const { columns, staged, keys, stagedKeys, flagged, isEqual } = partsOf(work)
  const insert = (into: string, from: string) =>
    clickhouse.execute(`insert into ${into} (${columns}) select ${staged} from ${from}`)
  const counts = await expected(work)
  if (delivery.mode === 'insert') {
    onCommit() // from here on, statements continue when the connection is lost
    await insert(names.target, names.stage)
  } else if (delivery.mode === 'full') {
    await clickhouse.execute(`create table ${names.next} as ${names.target}`)
    await insert(names.next, names.stage)
    onCommit()
    await exchange(clickhouse, names)
  } else if (delivery.mode === 'delete') {
    onCommit()
    if (counts.deleted > 0) await remove(work, `${keys} in (select ${stagedKeys} from ${names.stage})`)
  } else {
    await clickhouse.execute(`create table ${names.changed} as ${names.stage}`)
    await clickhouse.execute(`insert into ${names.changed} select * from ${names.stage} where ${flagged} or not (${isEqual})`)
    onCommit()
    if (counts.updated + counts.deleted > 0) await remove(work, `${keys} in (select ${stagedKeys} from ${names.changed})`)
    await insert(names.target, `${names.changed} where not (${flagged})`)
  }
  return counts
}

const NOT_SUPPORTED = ['CLICKHOUSE_62', 'CLICKHOUSE_48']

/** Readers see the one table or the other. */
async function exchange({ execute }: Clickhouse, { target, next, former }: Names): Promise<void> {
  try {
    await execute(`exchange tables ${target} and ${next}`)
  } catch (error) {
    if (!NOT_SUPPORTED.includes(String(codeOf(error)))) throw error
    await execute(`rename table ${target} to ${former}, ${next} to ${target}`)
  }
}

/** Deletes rows by a mutation, which continues after the statement. */
async function remove({ clickhouse, names }: Work, where: string): Promise<void> {
  const id = crypto.randomUUID() // in the text of the mutation, which a replicated table may list later
  await clickhouse.execute(`alter table ${names.target} delete where ${where} and '${id}' != ''`)
  await until(async () => {
    const [[all, done] = []] = await clickhouse.ask(
      `select count(), countIf(is_done = 1) from system.mutations where position(command, '${id}') > 0`,
    )
    return Number(all) > 0 && all === done
  }, `the deletion of rows of ${names.target}`)
}

async function until(isReached: () => Promise<boolean>, what: string): Promise<void> {
  const last = Date.now() + MAX_HOURS * 3_600_000
  while (!(await isReached())) {
    if (Date.now() > last)
      throw new UserError(
        `ClickHouse has not finished ${what} within ${MAX_HOURS} hours; see system.mutations and system.processes.`,
      )
    await wait(POLL_MS)
  }
}

/** Tables of other engines have their rows elsewhere: a new one like the target would have the same rows. */
async function refuseOtherEngines({ ask }: Clickhouse, { schema, name }: TableName): Promise<void> {
  const database = schema === '' ? 'currentDatabase()' : clickhouseLiteral(schema)
  const [[engine] = []] = await ask(
    `select engine from system.tables where database = ${database} and name = ${clickhouseLiteral(name)}`,
  )
  if (!/(MergeTree|Log|^Memory)$/.test(engine ?? ''))
    throw new UserError(`The mode "full" is not for tables with the engine ${engine}; deliver to the table that has the rows.`)
}

async function sampleOf(work: Work): Promise<readonly SampleRow[]> {
  const { clickhouse, delivery, plan, names } = work
  const { flagged, isThere, isEqual, staged } = partsOf(work)
  const operations = {
    full: "'insert'",
    insert: "'insert'",
    delete: `if(${isThere}, 'delete', 'nothing')`,
    upsert: `multiIf(${flagged}, if(${isThere}, 'delete', 'nothing'), not (${isThere}), 'insert', ${isEqual}, 'nothing', 'update')`,
  }
  const rows = await clickhouse.ask(
    `select ${operations[delivery.mode]}, ${staged} from ${names.stage} order by ${NUMBER} limit ${SAMPLE_ROWS}`,
  )
  return rows.map(([operation, ...cells]) => ({
    operation: operation ?? '',
    values: Object.fromEntries(plan.columns.map(({ target: { name } }, at) => [name, cells[at] ?? null])),
  }))
}
