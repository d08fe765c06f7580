// The step of a row that is a SQL script (spec platform 1.28): inputs are views over parts of tables, results become files of the data
// folder, and everything after that is as for any other component.

import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { DataFolder } from '../../engines/runner/data-folder.ts'
import type { RunnableComponent, RunScope, RunSql, SqlInput, SqlRun, SqlRunEnd, SqlScriptPart } from '../../model/run-ports.ts'
import type { ImageRecord } from './component-run.ts'
import type { ComponentLimits } from './limits.ts'
import { invalid, type Mapping } from './mapping.ts'

const Script = Type.Union([Type.String(), Type.Array(Type.String())])
const Parameters = Type.Object({
  blocks: Type.Array(
    Type.Object({
      name: Type.Optional(Type.String()),
      codes: Type.Array(Type.Object({ name: Type.Optional(Type.String()), script: Script })),
    }),
  ),
})

export interface ScriptStep {
  readonly scope: RunScope
  readonly component: RunnableComponent
  readonly tag: string
  /** Text of config.json. */
  readonly configFile: string
  readonly mapping: Mapping
  readonly inputs: readonly SqlInput[]
  readonly limits: ComponentLimits
  readonly folder: DataFolder
  say(text: string): void
  onStatement(done: number, total: number): void
}

export interface ScriptEnd extends SqlRunEnd {
  readonly image: ImageRecord
}

export async function runScript(sql: RunSql, step: ScriptStep, signal: AbortSignal): Promise<ScriptEnd> {
  const end = await sql.run(requestOf(step), signal)
  return { ...end, image: { id: `sql/${step.component.id}:${step.tag}`, digests: [] } }
}

export function requestOf(step: Omit<ScriptStep, 'tag'>): SqlRun {
  const tables = [...new Set(step.mapping.outputTables.map(({ source }) => source))]
  return {
    scope: step.scope,
    database: join(step.folder.root, 'script.duckdb'),
    inputs: step.inputs,
    parts: partsOf(step),
    outputs: tables.map((table) => ({ table, path: join(step.folder.data, 'out/tables', table) })),
    memoryMb: Math.floor(step.limits.memoryBytes / 1e6),
    threads: step.limits.cpus,
    timeoutMs: step.limits.timeoutMs,
    say: step.say,
    onStatement: step.onStatement,
  }
}

function partsOf({ configFile, component }: Pick<ScriptStep, 'configFile' | 'component'>): SqlScriptPart[] {
  const { parameters } = JSON.parse(configFile) as { parameters?: unknown } // config.json of this run
  if (!Value.Check(Parameters, parameters))
    throw invalid(`the component ${component.id} needs parameters.blocks: [{name, codes: [{name, script: ["SELECT ..."]}]}]`)
  return (parameters as Static<typeof Parameters>).blocks.flatMap((block, b) =>
    block.codes.map((code, c) => ({
      block: block.name ?? `Block ${b + 1}`,
      code: code.name ?? `Code ${c + 1}`,
      script: Array.isArray(code.script) ? code.script : [code.script],
      pointer: `/parameters/blocks/${b}/codes/${c}/script`,
    })),
  )
}
