// Which load broke a table: the states between one where a check held and one where it fails are halved until the first that fails is found.
// States are immutable, so a check of the past reads files that are there still, and nothing is run again.

import { countRows, type TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { parseMoment } from '../../../kit/relative-time.ts'
import { type Actor, canUseComponent } from '../../../model/actor.ts'
import type { Scope } from '../../../model/scope.ts'
import type { JobHandler, NewStorageJob } from '../../../model/storage-job.ts'
import { findAnswer, type RecordedAnswer } from './recorded-answer.ts'
import type { DataTest, Example, RunTests, TestResult } from './run-tests.ts'
import { readRule, type TestRule } from './test-rules.ts'

/** A state of a table that can be read. */
export interface PastState {
  readonly id: number
  readonly createdAtMs: number
}

/** An event of a table, seen from here. */
export interface TableEvent {
  readonly id: number
  readonly event: string
  readonly runId: string | null
  readonly createdAtMs: number
  readonly tokenDescription: string
}

export interface JobOfRun {
  readonly id: number
  readonly componentId: string
  readonly configurationId: string | null
  readonly configurationVersion: number | null
}

/** The requests of a run with their answers. */
export interface Recording {
  readonly fileId: number
  /** Undefined if the bytes are gone. */
  readonly open: () => Promise<AsyncIterable<Uint8Array> | undefined>
}

export interface BisectDeps {
  readonly clock: Clock
  readonly runTests: RunTests
  /** The oldest first. */
  readonly listStates: (scope: Scope, tableId: string) => Promise<readonly PastState[]>
  readonly readState: (scope: Scope, tableId: string, id: number) => Promise<TableSnapshot | undefined>
  readonly eventsOf: (projectId: number, tableId: string, from: number, to: number) => Promise<readonly TableEvent[]>
  readonly findJob: (projectId: number, id: number) => Promise<JobOfRun | undefined>
  /** Of a run, those that the actor may read. */
  readonly recordingsOf: (scope: Scope, runId: string) => Promise<readonly Recording[]>
  readonly canonicalId: (componentId: string) => string
  /** Of the caller. */
  readonly getTest: (scope: Scope, id: number) => Promise<DataTest & { readonly tableId: string }>
  readonly checkRule: (scope: Scope, tableId: string, rule: TestRule) => Promise<void>
}

export interface BisectRequest {
  /** When the check held. */
  readonly goodAt: string
  /** When it failed; now by default. */
  readonly badAt?: string | undefined
  readonly testId?: number | undefined
  readonly sql?: string | undefined
}

interface BisectInput {
  readonly tableId: string
  readonly test: DataTest
  readonly good: PastState
  /** States after the good one, up to the one that fails. */
  readonly states: readonly PastState[]
  readonly scope: Scope
}

/** Events of a table that are no change of its rows. */
const NO_CHANGE =
  /^storage\.(dataTest|dataContract|table(ImportStarted|ImportError|Exported|DataPreview|Late|Alias|Metadata|Detail))/
/** Between the state of a load and its event: both are of one transaction. */
const NEAR_MS = 60_000

export type Bisect = ReturnType<typeof createBisect>

export function createBisect(deps: BisectDeps) {
  const { clock, runTests, listStates, readState } = deps

  async function start(scope: Scope, tableId: string, request: BisectRequest): Promise<NewStorageJob> {
    const all = await listStates(scope, tableId)
    const [goodMs, badMs] = [momentOf(request.goodAt), momentOf(request.badAt ?? 'now')]
    const good = all.findLast(({ createdAtMs }) => createdAtMs <= goodMs)
    if (!good) throw new PlatformError('sql.noState', { table: tableId, time: new Date(goodMs).toISOString() })
    const states = all.filter(({ id, createdAtMs }) => id > good.id && createdAtMs <= badMs)
    const input: BisectInput = { tableId, test: await testOf(scope, tableId, request), good, states, scope }
    return {
      operationName: 'tableBisect',
      operationParams: {
        tableId,
        goodAt: new Date(goodMs).toISOString(),
        badAt: new Date(badMs).toISOString(),
        check: input.test.name,
      },
      input,
      tableId,
      branchId: scope.branch.id,
    }
  }

  function momentOf(text: string): number {
    const at = text.trim().toLowerCase() === 'now' ? clock.now() : parseMoment(text, clock.now())
    if (!at) throw new PlatformError('sql.noTime', { value: text.slice(0, 60) })
    return at.getTime()
  }

  async function testOf(scope: Scope, tableId: string, { testId, sql }: BisectRequest): Promise<DataTest> {
    if ((testId === undefined) === (sql === undefined)) throw invalid('Name the check by testId or by sql, not by both')
    if (testId === undefined) {
      const rule = readRule('sql', { sql })
      await deps.checkRule(scope, tableId, rule)
      return { id: 0, name: 'query', severity: 'stop', rule }
    }
    const { id, name, severity, rule, tableId: tested } = await deps.getTest(scope, testId)
    if (tested !== tableId) throw invalid(`Data test ${id} belongs to table ${tested}, not to ${tableId}`)
    if (rule.type === 'usual') throw invalid('A test of type usual compares loads with each other; name another test, or sql')
    return { id, name, severity, rule }
  }

  const run: JobHandler = async ({ job, signal }) => {
    const { tableId, test, good, states, scope } = job.input as BisectInput // written by start
    let checks = 0
    /** Undefined: the check holds. */
    async function problemAt(state: PastState): Promise<Problem | undefined> {
      const snapshot = await readState(scope, tableId, state.id)
      if (!snapshot) throw new PlatformError('sql.noState', { table: tableId, time: new Date(state.createdAtMs).toISOString() })
      const { results, examples } = await runTests([test], {
        ...{ tableId, scope, snapshot, signal, loadedAt: state.createdAtMs, now: state.createdAtMs, showsQueries: true },
        rowsBefore: undefined,
        history: () => [],
      })
      const result = results.find(({ status }) => status !== 'passed')
      return result && { ...result, examples }
    }
    const last = states.at(-1)
    if (!last) return { results: { ...about(), status: 'unchanged', message: 'The table has not changed in that time.' } }
    const now = await problemAt(last)
    if (!now)
      return { results: { ...about(), status: 'holds', message: 'The check holds in the later state; nothing is broken.' } }
    const before = await problemAt(good)
    if (before)
      return {
        results: {
          ...about(),
          status: 'failedBefore',
          message: `The check failed in the earlier state already: ${before.message}`,
        },
      }
    let [low, high, found] = [-1, states.length - 1, now] // holds at low, fails at high
    while (high - low > 1) {
      const middle = (low + high) >> 1
      const problem = await problemAt(states[middle]!)
      checks++
      if (problem) [high, found] = [middle, problem]
      else low = middle
    }
    const first = states[high]!
    const snapshot = await readState(scope, tableId, first.id)
    return {
      results: {
        ...about(),
        status: 'found',
        message: found.message,
        failures: found.failures,
        lastGood: stateView(low === -1 ? good : states[low]!),
        firstBad: { ...stateView(first), rowsCount: snapshot ? countRows(snapshot) : null },
        cause: await causeOf(scope, tableId, first, states[high + 1], found.examples),
      },
    }

    function about() {
      return { tableId, check: test.name, states: states.length, checks }
    }
  }

  /** The event that is nearest to the state, and the job whose run it belongs to. */
  async function causeOf(
    scope: Scope,
    tableId: string,
    state: PastState,
    next: PastState | undefined,
    examples: readonly Example[],
  ) {
    const { actor } = scope
    const until = Math.min(next?.createdAtMs ?? Number.POSITIVE_INFINITY, state.createdAtMs + NEAR_MS)
    const events = await deps.eventsOf(actor.projectId, tableId, state.createdAtMs - NEAR_MS, until)
    const distance = ({ createdAtMs }: TableEvent) => Math.abs(createdAtMs - state.createdAtMs)
    const [nearest] = events.filter(({ event }) => !NO_CHANGE.test(event)).toSorted((a, b) => distance(a) - distance(b))
    if (!nearest) return null
    const { id, event, runId, tokenDescription } = nearest
    const job = await jobOf(actor, runId)
    const answer = job.jobId === null || runId === null ? null : await answerOf(scope, runId, examples)
    return { eventId: String(id), event, runId, token: tokenDescription, ...job, answer }
  }

  /** Of an extraction with a recording: the answer that brought the rows which fail. */
  async function answerOf(scope: Scope, runId: string, examples: readonly Example[]) {
    const rows = examples.map(({ row }) => Object.values(row))
    let best: (RecordedAnswer & { readonly fileId: string }) | undefined
    for (const { fileId, open } of await deps.recordingsOf(scope, runId)) {
      const bytes = await open()
      const answer = bytes && (await findAnswer(bytes, rows))
      if (answer && (!best || shareOf(answer) > shareOf(best))) best = { fileId: String(fileId), ...answer }
    }
    return best ?? null
  }

  async function jobOf(actor: Actor, runId: string | null) {
    const unknown = { jobId: null, componentId: null, configurationId: null, configurationVersion: null }
    const id = runId?.split('.').at(-1)
    const job = id !== undefined && /^\d{1,15}$/.test(id) ? await deps.findJob(actor.projectId, Number(id)) : undefined
    if (!job || !canUseComponent(actor, job.componentId, deps.canonicalId)) return unknown
    const { componentId, configurationId, configurationVersion } = job
    return { jobId: String(job.id), componentId, configurationId, configurationVersion }
  }

  return { start, run }
}

type Problem = TestResult & { readonly examples: readonly Example[] }

const shareOf = ({ matches }: RecordedAnswer): number => matches.found / matches.of

const stateView = ({ id, createdAtMs }: PastState) => ({ stateId: String(id), time: new Date(createdAtMs).toISOString() })

const invalid = (reason: string) => new PlatformError('storage.dataTests.invalid', { reason })
