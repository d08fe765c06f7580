// A whole run: read, check, extract, write. Nothing appears in out/ before every job of every iteration is done, and
// out/state.json comes last (spec extractor 1.6).

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { counted } from '../../../contract/counted.ts'
import { type Checkpoint, type CheckpointOptions, type KeptAnswers, openCheckpoint } from './checkpoint/checkpoint.ts'
import type { Configuration } from './configuration/configuration.ts'
import { at, flagAt } from './configuration/read.ts'
import { checkKeys } from './configuration/unknown-keys.ts'
import { UserError } from './errors.ts'
import { createHeapKeeper } from './heap.ts'
import { createClient } from './http/client.ts'
import type { Send } from './http/exchange.ts'
import { createGate } from './http/gate.ts'
import { DEFAULT_RETRY } from './http/retry.ts'
import { TransportError } from './http/transport-error.ts'
import { createProgress } from './jobs/progress.ts'
import { runJobs } from './jobs/run-jobs.ts'
import { type JsonValue, objectOf } from './json/json.ts'
import type { Log } from './log.ts'
import type { Redactor } from './redaction.ts'
import { createPlan, type RunPlan } from './run-plan.ts'
import { nextState, readState, type State, writeState } from './state.ts'
import { type CompleteTables, createTables, type PrimaryKeys, type Tables } from './tables/tables.ts'
import { TablesError } from './tables/tables-error.ts'
import type { Wire } from './wire.ts'

export interface RunDeps {
  readonly dataDir: string
  readonly log: Log
  readonly redactor: Redactor
  /** Milliseconds. */
  readonly now: () => number
  /** Ends early, with an error, when the signal is given. */
  readonly sleep: (seconds: number, signal?: AbortSignal) => Promise<void>
  /** Opens the way out for one iteration. */
  readonly openWire: (plan: RunPlan) => Promise<Wire>
  /** A folder that outlives a failed run of this configuration; undefined when there is none. */
  readonly checkpointDir?: string | undefined
  readonly hashCost?: CheckpointOptions['hashCost']
}

export async function run(configuration: Configuration, deps: RunDeps): Promise<void> {
  const { dataDir, log, now } = deps
  const state = readState(dataDir, log)
  const began = now()
  checkKeys(configuration, log)
  const checkpoint = checkpointOf(configuration, state, deps)
  const currentStart = Math.floor((checkpoint?.began ?? began) / 1000)
  const fixedTime = checkpoint?.began
  rmSync(workDirOf(dataDir), { recursive: true, force: true }) // of a run that was killed
  const outputs = new Map<string | undefined, Output>()
  const progress = createProgress(log, now)
  const heap = createHeapKeeper()
  const end = new AbortController()
  const sleep = (seconds: number) => deps.sleep(seconds, end.signal)
  let hasEverything = false
  try {
    const plans = configuration.runs.map((config) =>
      createPlan(configuration, config, { ...deps, previousStart: state.previousStart, currentStart, fixedTime }),
    )
    openOutputs(outputs, plans, state.parserState, deps)
    for (const [iteration, plan] of plans.entries()) {
      const add = outputs.get(plan.bucket)!.tables.addWith(plan.mappings)
      const wire = await deps.openWire(plan)
      try {
        const client = clientOf(plan, wire.send, { ...deps, sleep }, checkpoint)
        await runJobs(plan.jobs, {
          iteration,
          client,
          scrollers: plan.scrollers,
          concurrency: plan.concurrency,
          store: (page) => {
            add(page)
            heap.check()
          },
          scope: plan.scope,
          userData: plan.userData,
          log,
          progress,
        })
      } finally {
        await wire.close()
      }
    }
    hasEverything = true
    const finished = finishAll(outputs, log)
    const parserState = finished.reduce<JsonValue | undefined>((sofar, bucket) => bucket.parserState(sofar), undefined)
    writeState(dataDir, nextState(state, currentStart, parserState))
    summarise(finished, progress.pages, progress.items, now() - began, log)
  } catch (error) {
    end.abort() // a request sent ahead must not be retried any more
    for (const { tables } of outputs.values()) tables.discard()
    if (checkpoint && (hasEverything || leadsNowhere(checkpoint, error))) checkpoint.drop()
    throw error instanceof TablesError ? new UserError(error.message, {}, error) : error
  } finally {
    checkpoint?.close()
    rmSync(workDirOf(dataDir), { recursive: true, force: true })
  }
}

/** config.resume: what an earlier run of the same configuration with the same state has received is not requested again. */
function checkpointOf(configuration: Configuration, state: State, deps: RunDeps): Checkpoint | undefined {
  const { checkpointDir: folder, log, now, hashCost } = deps
  if (!configuration.runs.some((config) => flagAt(at(config, 'resume'), 'config.resume'))) return undefined
  if (folder === undefined) {
    log.info('config.resume has no effect here: there is no folder that outlives this run (MILLRACE_CHECKPOINT_DIR).')
    return undefined
  }
  const { api, runs, sshProxy, awsCredentials, oauthCredentials } = configuration
  const wire = [sshProxy ?? null, awsCredentials ?? null, oauthCredentials ?? null]
  const decisive = objectOf([
    ['api', api],
    ['runs', [...runs]],
    ['wire', wire],
    ['state', state.content],
  ])
  return openCheckpoint({ folder, run: decisive, now, log, hashCost })
}

/** A run that continues another one, and fails where that one failed: only a network or an API that is down for a while may be waited for. */
function leadsNowhere({ isContinued, hasAdvanced }: Checkpoint, error: unknown): boolean {
  return isContinued && !hasAdvanced && !isPassing(error)
}

function isPassing(error: unknown): boolean {
  if (error instanceof TransportError) return true
  return error instanceof UserError && DEFAULT_RETRY.httpCodes.has(Number(error.context.status))
}

/** On the same disk as the output, so that finished tables are moved, not copied. */
const workDirOf = (dataDir: string) => join(dataDir, '.extractor')

export const clientOf = (
  plan: RunPlan,
  send: Send,
  { now, sleep, redactor, log }: Pick<RunDeps, 'now' | 'sleep' | 'redactor' | 'log'>,
  kept?: KeptAnswers,
) =>
  createClient({
    base: plan.api.base,
    headers: plan.api.headers,
    defaults: plan.api.defaults,
    ignoreErrors: plan.api.ignoreErrors,
    retry: { rules: plan.api.retry, nowSeconds: () => now() / 1000, sleep, log },
    gate: createGate({ concurrency: plan.concurrency, perSecond: plan.maxRequestsPerSecond, now, sleep }),
    send,
    authenticate: plan.authenticate,
    isSecret: (text) => redactor.redact(text) !== text,
    kept,
    log,
  })

interface Output {
  readonly tables: Tables
  readonly incremental: boolean
  readonly primaryKeys: PrimaryKeys
}

/** Iterations with the same bucket share their tables; the last values of incrementalOutput and primaryKey count (spec extractor 17). */
function openOutputs(
  outputs: Map<string | undefined, Output>,
  plans: readonly RunPlan[],
  parserState: JsonValue | undefined,
  { dataDir, log }: RunDeps,
): void {
  for (const { bucket, mappings, compatLevel, incremental, primaryKeys } of plans) {
    const tables =
      outputs.get(bucket)?.tables ??
      createTables({
        outDir: join(dataDir, 'out', 'tables'),
        workDir: join(workDirOf(dataDir), String(outputs.size)),
        bucket,
        mappings,
        compatLevel,
        parserState,
        log,
      })
    tables.addWith(mappings) // checked with everything else, before the first request
    outputs.set(bucket, { tables, incremental, primaryKeys })
  }
}

/** All tables of all buckets are whole before the first one appears. */
function finishAll(outputs: ReadonlyMap<string | undefined, Output>, log: Log): CompleteTables[] {
  const finished = [...outputs.values()].map(({ tables, incremental, primaryKeys }) => {
    const complete = tables.complete({ incremental, primaryKeys })
    if (incremental) warnOfKeylessTables(complete, log)
    return complete
  })
  for (const { tables } of outputs.values()) tables.publish()
  return finished
}

function warnOfKeylessTables({ tables }: CompleteTables, log: Log): void {
  const keyless = tables.filter(({ primaryKey, rows }) => primaryKey.length === 0 && rows > 0).map(({ table }) => table)
  if (keyless.length === 0) return
  log.warning(
    `incrementalOutput is on, and without a primary key rows that come again are added again: ${keyless.join(', ')}. ` +
      'Name the key in config.primaryKey or in a mapping, unless that is what you want.',
  )
}

function summarise(finished: readonly CompleteTables[], pages: number, items: number, elapsedMs: number, log: Log): void {
  const tables = finished.flatMap((f) => f.tables)
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  log.info(
    `${counted(pages, 'page')} with ${counted(items, 'item')} gave ${counted(tables.length, 'table')} with ${counted(rows, 'row')} in ${(elapsedMs / 1000).toFixed(1)} seconds.`,
    {
      tables: Object.fromEntries(tables.map((table) => [table.file, table.rows])),
    },
  )
}
