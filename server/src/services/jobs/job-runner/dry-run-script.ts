// The dry run of a SQL transformation (spec platform 1.28): the same inputs and statements as a run, tried out without rows.

import { membersOf } from '../../../kit/text/json-text.ts'
import type { RunnableComponent, RunScope } from '../../../model/run-ports.ts'
import { readInputs } from './input.ts'
import { limitsOf } from './limits.ts'
import { readMapping, readRuntime } from './mapping/mapping.ts'
import type { RowDeps } from './row-types.ts'
import { requestOf } from './sql-script.ts'
import { readState } from './state.ts'

/** `configuration` is JSON text; secrets in it stay ciphers, which a plan may show. */
export async function dryRunScript(
  deps: RowDeps,
  scope: RunScope,
  component: RunnableComponent,
  configuration: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<string> {
  const members = membersOf(configuration)
  const parsed = (name: string): unknown => JSON.parse(members.get(name) ?? '{}')
  const mapping = { ...readMapping(parsed('storage')), inputFiles: [] }
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
    const { outputs, ...tried } = await deps.sql.dryRun(requestOf(step), signal)
    const written = mapping.outputTables.map(({ source, destination }) => ({
      source,
      destination,
      columns: outputs.find(({ table }) => table === source)?.columns ?? [],
    }))
    return JSON.stringify({ ...tried, outputs: written })
  } finally {
    await deps.programs.runner.removeFolder(folder)
  }
}
