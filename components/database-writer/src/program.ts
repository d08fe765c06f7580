// The database writer as a program: a table of the input mapping is delivered to a database.

import { setTimeout as wait } from 'node:timers/promises'
import { counted } from '../../../contract/counted.ts'
import { untilJob } from '../../../contract/started-ahead.ts'
import { openWay } from '../../connector-kit/src/database/connect.ts'
import { ALL_TYPES, type DatabaseSettings, readDatabase } from '../../connector-kit/src/database/connection.ts'
import { type Advice, explained, isLostConnection } from '../../connector-kit/src/database/explain.ts'
import { type Folders, targetFile } from '../../connector-kit/src/database/files.ts'
import { leaveCounts, leaveDryRun } from '../../connector-kit/src/delivered.ts'
import { onlyInputTable } from '../../connector-kit/src/input-table.ts'
import { type Program, runProgram } from '../../connector-kit/src/program.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { type Delivery, LOCK_SECONDS, readDelivery } from './configuration.ts'
import type { Delivered } from './deliver.ts'
import { type Writer, writerOf } from './writer.ts'

untilJob()

const ATTEMPTS = 4

/** Other than for those who read. */
const ADVICE: Advice = [
  [/^(42501|ER_TABLEACCESS_DENIED_ERROR|ER_COLUMNACCESS_DENIED_ERROR)$/, 'Grant the right to change it to the user.'],
  [
    /^(2[23]\w{3}|ER_TRUNCATED_WRONG_VALUE\w*|ER_DATA_TOO_LONG|ER_DUP_ENTRY|ER_BAD_NULL_ERROR|ER_WARN_DATA_OUT_OF_RANGE)$/,
    'With "invalidRows": "reject" such rows become a table.',
  ],
  [
    /^CLICKHOUSE_497$/,
    'Grant the rights to create and drop tables in the database, to change this one, and to read system.mutations and system.processes to the user.',
  ],
  [/^DUCKDB_(CONVERSION|OUT_OF_RANGE)$/, 'With "invalidRows": "reject" such rows become a table.'],
  [
    /^(42\w{3}|ER_PARSE_ERROR|ER_BAD_FIELD_ERROR|CLICKHOUSE_(43|46|47|53|62)|DUCKDB_(PARSER|BINDER|CATALOG))$/,
    'Check columns, preSql and postSql.',
  ],
]

await runProgram({
  pointer: '/parameters/db',
  async run(program) {
    const { parameters, dataDir, log } = program
    const settings = readDatabase(parameters, ALL_TYPES)
    const delivery = readDelivery(parameters)
    const input = onlyInputTable(dataDir)
    if (delivery.dryRun || process.env.KBC_COMPONENT_RUN_MODE === 'debug') {
      const tried = await withWriter(settings, program, delivery, true, (writer) => writer.tryOut(delivery, input))
      leaveDryRun(dataDir)
      return log.info(`Dry run, nothing was written: ${summary(tried, 'would be')}.`)
    }
    for (let attempt = 1; ; attempt++) {
      let isCommitting = false
      const onCommit = () => {
        isCommitting = true
      }
      try {
        const done = await withWriter(settings, program, delivery, false, (writer) =>
          writer.deliver(delivery, input, dataDir, onCommit),
        )
        if (!done.plan.exists) log.info(`The table ${delivery.table.name} did not exist and was created.`)
        const { inserted, updated, deleted, rejected } = done
        leaveCounts(dataDir, { inserted, updated, deleted, rejected })
        return log.info(`Delivered ${input.id} to ${delivery.table.name}: ${summary(done, '')}.`)
      } catch (error) {
        const cause = error instanceof UserError ? error.cause : error
        if (!isLostConnection(cause)) throw error
        if (isCommitting)
          throw new UserError(
            `The connection was lost while the changes were committed: they may have been made. ${delivery.mode === 'insert' ? 'Look into the table before you run the job again.' : 'Run the job again; it makes the same changes.'}`,
            {},
            error,
          )
        if (attempt === ATTEMPTS) throw error
        log.warning(
          `The connection was lost, so nothing was written; the table is delivered again (attempt ${attempt + 1} of ${ATTEMPTS}).`,
        )
        await wait(1000 * 2 ** attempt)
      }
    }
  },
  async act(name, program) {
    const settings = readDatabase(program.parameters, ALL_TYPES)
    if (name === 'testConnection')
      return withWriter(settings, program, undefined, true, async (writer) => {
        await writer.testConnection()
        return { status: 'success' }
      })
    if (name !== 'preview') throw new UserError(`The action "${name.slice(0, 60)}" does not exist. Use testConnection, preview.`)
    const delivery = readDelivery(program.parameters)
    const input = onlyInputTable(program.dataDir)
    const { plan, rows, sample, ...operations } = await withWriter(settings, program, delivery, true, (writer) =>
      writer.tryOut(delivery, input),
    )
    return {
      status: 'success',
      table: { ...delivery.table, exists: plan.exists },
      columns: plan.columns.map(({ source, target, type, isKey }) => ({
        source: source.name,
        target: target.name,
        type: plan.exists ? target.native : type,
        isKey,
      })),
      rowsOfTable: input.rowsCount,
      ...{ rows, operations, sample },
    }
  },
})

function summary({ rows, inserted, updated, deleted, rejected }: Delivered, words: string): string {
  const of = (count: number, done: string) => `${count} ${words === '' ? '' : `${words} `}${done}`
  return `of ${counted(rows, 'row')} ${of(inserted, 'inserted')}, ${of(updated, 'updated')}, ${of(deleted, 'deleted')}, ${of(rejected, 'rejected')}`
}

async function withWriter<T>(
  settings: DatabaseSettings,
  program: Program,
  delivery: Delivery | undefined,
  isDry: boolean,
  work: (writer: Writer) => Promise<T>,
): Promise<T> {
  let writer: Writer | undefined
  try {
    writer = await openWriter(settings, program, delivery, isDry)
    return await work(writer)
  } catch (error) {
    throw explained(error, settings, ADVICE)
  } finally {
    await writer?.close()
  }
}

async function openWriter(
  settings: DatabaseSettings,
  { guard, dataDir }: Program,
  delivery: Delivery | undefined,
  isDry: boolean,
): Promise<Writer> {
  const lockSeconds = delivery?.lockSeconds ?? LOCK_SECONDS
  if ('folder' in settings) {
    const folders = JSON.parse(process.env.MILLRACE_FOLDERS ?? '{}') as Folders // written by the platform
    const path = targetFile(settings, folders)
    if (settings.type === 'sqlite') return writerOf((await import('./targets/sqlite.ts')).openSqlite(path, isDry, lockSeconds))
    return writerOf(await (await import('./targets/duckdb.ts')).openDuckdb({ path, dataDir, isDry, lockSeconds }))
  }
  // Only the driver that is needed is loaded.
  if (settings.type === 'clickhouse') return (await import('./clickhouse/deliver.ts')).openClickhouse(settings, guard)
  const way = await openWay(settings, guard)
  const hasScripts = !isDry && ((delivery?.preSql ?? '') !== '' || (delivery?.postSql ?? '') !== '')
  if (settings.type === 'postgresql')
    return writerOf(await (await import('./targets/postgresql.ts')).openPostgresql(settings, way, lockSeconds))
  return writerOf(await (await import('./targets/mysql.ts')).openMysql(settings, way, lockSeconds, hasScripts))
}
