// A SQL transformation before it runs (spec platform 1.28): the dry run tries the statements of a run out without rows; the trial runs them
// over a sample, and keeps nothing.

import { membersOf } from '../../../kit/text/json-text.ts'
import type { RunnableComponent, RunScope, SqlRun, SqlTryEnd } from '../../../model/run-ports.ts'
import { readInputs } from './input.ts'
import { limitsOf } from './limits.ts'
import { type Mapping, readMapping, readRuntime } from './mapping/mapping.ts'
import type { RowDeps } from './row-types.ts'
import { requestOf } from './sql-script.ts'
import { readState } from './state.ts'

/** A script to be tried: `configuration` is JSON text; secrets in it stay ciphers, which a plan may show. */
export interface ScriptTrial {
  readonly scope: RunScope
  readonly component: RunnableComponent
  readonly configuration: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export const dryRunScript = (deps: RowDeps, trial: ScriptTrial): Promise<string> =>
  withRequest(deps, trial, undefined, async (request, mapping) => {
    const { outputs, ...tried } = await deps.sql.dryRun(request, trial.signal)
    const written = mapping.outputTables.map(({ source, destination }) => ({
      source,
      destination,
      columns: outputs.find(({ table }) => table === source)?.columns ?? [],
    }))
    return JSON.stringify({ ...tried, outputs: written })
  })

export interface SampleChoice {
  /** Of each table that is read; undefined: all of it. */
  readonly sampleRows: number | undefined
  /** Of each result. */
  readonly shownRows: number
}

export type ScriptTried = Omit<SqlTryEnd, 'outputs'> & {
  readonly outputs: readonly { readonly source: string; readonly destination: string | null; readonly rows: number | null }[]
}

export const tryScript = (deps: RowDeps, trial: ScriptTrial, sample: SampleChoice): Promise<ScriptTried> =>
  withRequest(deps, trial, sample.sampleRows, async (request, mapping) => {
    const { outputs, ...tried } = await deps.sql.tryRun({ ...request, ...sample }, trial.signal)
    const written = mapping.outputTables.map(({ source, destination }) => ({
      source,
      destination: destination ?? null,
      rows: outputs.find(({ table }) => table === source)?.rows ?? null,
    }))
    return { ...tried, outputs: written }
  })

/** `sampleRows`: of each input; undefined: all that its mapping names. */
async function withRequest<T>(
  deps: RowDeps,
  { scope, component, configuration, timeoutMs, signal }: ScriptTrial,
  sampleRows: number | undefined,
  work: (request: SqlRun, mapping: Mapping) => Promise<T>,
): Promise<T> {
  const members = membersOf(configuration)
  const parsed = (name: string): unknown => JSON.parse(members.get(name) ?? '{}')
  const read = readMapping(parsed('storage'))
  const inputTables = read.inputTables.map((entry) =>
    sampleRows === undefined ? entry : { ...entry, limit: Math.min(entry.limit || sampleRows, sampleRows) },
  )
  const mapping = { ...read, inputTables, inputFiles: [] }
  const folder = await deps.programs.runner.newFolder()
  try {
    const inputs = await readInputs(deps, {
      scope,
      mapping,
      state: readState('{}'),
      folder,
      staging: 'sql',
      signal,
      now: deps.clock.now(),
      bareNulls: false,
    })
    const limits = { ...limitsOf(component, readRuntime(parsed('runtime')), undefined, true, deps.programs.diskBytes), timeoutMs }
    const step = {
      scope,
      component,
      configFile: configuration,
      mapping,
      inputs: inputs.sql,
      limits,
      folder,
      say: () => {},
      onStatement: () => {},
    }
    return await work(requestOf(step), mapping)
  } finally {
    await deps.programs.runner.removeFolder(folder)
  }
}
