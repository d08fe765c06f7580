// The change capture as a part of the program: a run, which is tried again when a connection is lost, and its sync actions.

import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openWay } from '../../../connector-kit/src/database/connect.ts'
import { explained, isLostConnection, isRefusedConnection } from '../../../connector-kit/src/database/explain.ts'
import type { Program } from '../../../connector-kit/src/program.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { RowSettings } from '../configuration.ts'
import { connectPostgresql } from '../databases/postgresql.ts'
import { openDatabase } from '../open-database.ts'
import { verifiedTable } from '../output-table-id.ts'
import { type Batches, openBatches } from './batches.ts'
import { type CaptureRun, openPostgresqlRounds, type Rounds } from './capture.ts'
import { captureOn } from './continuous.ts'
import { type CaptureSettings, readCapture } from './settings.ts'
import { type Ask, askOf, checkServer, dropSlot, listSlots, shapeOf, slotStatus } from './source.ts'

const ATTEMPTS = 4

/** Nothing of a run is stored before it ends, so that it can begin again. */
export async function runCapture(program: Program): Promise<void> {
  const { parameters, dataDir, guard, log } = program
  const settings = readCapture(parameters, process.env)
  if (settings.mode !== 'read') return verifyCaptured(program, settings)
  if (settings.slot === '') throw new UserError('slotName is missing. A job without a stored configuration needs one.')
  const run = { settings, dataDir, outDir: join(dataDir, 'out'), guard, log }
  const batches = openBatches(dataDir)
  const follow = settings.continuousMinutes === undefined ? readOnce(run) : readOn(run, batches)
  let wasConnected = false
  const work = async () => {
    const rounds = await openRounds(run)
    wasConnected = true
    try {
      await follow(rounds)
    } finally {
      await rounds.close()
    }
  }
  for (let attempt = 1; ; attempt++) {
    const before = batches.stored
    try {
      return await work()
    } catch (error) {
      if (batches.stored > before) attempt = 0 // a connection that is lost repeatedly still makes progress
      const cause = error instanceof UserError ? error.cause : error
      const isLost = isLostConnection(cause) || (wasConnected && isRefusedConnection(cause))
      if (attempt === ATTEMPTS || !isLost) throw explained(error, settings.db)
      log.warning(`The connection was lost; the run begins again (attempt ${attempt + 1} of ${ATTEMPTS}).`)
      await wait(attempt === 0 ? 250 : 1000 * 2 ** attempt)
    }
  }
}

async function openRounds(run: CaptureRun): Promise<Rounds> {
  if (run.settings.db.type === 'postgresql') return openPostgresqlRounds(run)
  return (await import('./mysql/capture.ts')).openMysqlRounds(run) // only the driver that is needed is loaded
}

type Follow = (rounds: Rounds) => Promise<void>

const readOnce =
  (run: CaptureRun): Follow =>
  async (rounds) => {
    const { place } = await rounds.round(run.outDir)
    const slot = run.settings.db.type === 'postgresql' ? ` with the slot ${run.settings.slot}` : ''
    run.log.info(`Captured up to ${place.position}${slot}.`)
  }

/** Begun again after a lost connection, it ends at the same time. */
function readOn(run: CaptureRun, batches: Batches): Follow {
  const { continuousMinutes = 0, batchSeconds } = run.settings
  if (process.env.MILLRACE_BATCHES !== '1')
    throw new UserError(
      'continuousMinutes needs a stored configuration without processors, whose state is saved. Run the configuration itself, or remove continuousMinutes.',
    )
  const until = Date.now() + continuousMinutes * 60_000
  return (rounds) => captureOn(run, rounds, { batches, until, everyMs: batchSeconds * 1000 })
}

/** The tables as they are now, in one snapshot of the server. What was committed since the last run counts as a difference. */
async function verifyCaptured({ file, dataDir, guard, log }: Program, settings: CaptureSettings): Promise<void> {
  const { db, tables, deletes, invalidValues, mode } = settings
  const [{ openHere }, { verifyAll }] = await Promise.all([import('../compare/here.ts'), import('../compare/verify.ts')])
  try {
    const database = await openDatabase(db, { guard, folders: {}, dataDir })
    try {
      const here = openHere(process.env)
      const runs = tables.map(({ schema, name, outputTable }) => {
        const source = { kind: 'table', table: { schema, name }, columns: undefined, filter: undefined } as const
        const row: RowSettings = {
          ...{ source, outputTable, primaryKey: undefined, incremental: true, incrementalColumns: [], lookback: 0 },
          ...{ invalidValues, mode, verifyTable: undefined, deletes, deletesLimitPercent: 100 },
          ...{ newColumns: 'add', changedTypes: 'widen', droppedColumns: 'keep', partRows: 0, reader: 'driver' },
        }
        return { database, row, here, tableId: verifiedTable(row, file, process.env), mayLackColumns: true, dataDir, log }
      })
      await verifyAll(runs)
    } finally {
      await database.close()
    }
  } catch (error) {
    throw explained(error, db)
  }
}

type Action = (ask: Ask, settings: CaptureSettings) => Promise<unknown>

const ACTIONS: Readonly<Record<string, Action>> = {
  /** Everything that a run needs of the server. */
  async testConnection(ask, { tables }) {
    await checkServer(ask)
    for (const table of tables) await shapeOf(ask, table)
    return { status: 'success' }
  },
  listSlots: async (ask) => ({ status: 'success', slots: await listSlots(ask) }),
  /** Before a configuration is deleted: a slot that is not read keeps WAL on the server. */
  async removeSlot(ask, { slot }) {
    if (slot === '') throw new UserError('slotName is missing: the slot to remove. The action listSlots shows their names.')
    const status = await slotStatus(ask, slot)
    if (status?.isActive) throw new UserError(`The slot ${slot} is in use. Stop the job that uses it first.`)
    if (status) await dropSlot(ask, slot)
    return { status: 'success', slot, removed: status !== undefined }
  },
}

/** Undefined: an action that the extractor has, too. */
export function captureAction(name: string): ((program: Program) => Promise<unknown>) | undefined {
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
  return action && ((program) => withServer(program, action))
}

async function withServer({ parameters, guard }: Program, action: Action): Promise<unknown> {
  const settings = readCapture(parameters, process.env, { wantsTables: false })
  try {
    if (settings.db.type === 'mysql') return await mysqlAction(action, settings, guard)
    const way = await openWay(settings.db, guard)
    const client = await connectPostgresql(settings.db, way)
    try {
      return await action(askOf(client), settings)
    } finally {
      await client.end().catch(() => {}) // it may be lost already
      way.close()
    }
  } catch (error) {
    throw explained(error, settings.db)
  }
}

/** A log has no slots. */
async function mysqlAction(action: Action, settings: CaptureSettings, guard: Program['guard']): Promise<unknown> {
  if (action !== ACTIONS.testConnection)
    throw new UserError('MySQL and MariaDB have no replication slots: nothing is kept for a capture.')
  const mysql = await import('./mysql/server.ts')
  const server = await mysql.connectServer(settings.db, guard)
  try {
    await mysql.checkServer(server.ask)
    await mysql.currentPosition(server.ask)
    for (const table of settings.tables) await mysql.shapeOf(server.ask, table)
    return { status: 'success' }
  } finally {
    server.close()
  }
}
