// The step of a row that is a SQL script (spec platform 1.28): inputs are views over parts of tables, results become files of the data
// folder, and everything after that is as for any other component.

import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { type DataFolder, outputPath, writeDataFile } from '../../../engines/runner/data-folder.ts'
import type {
  RunnableComponent,
  RunScope,
  RunSpark,
  RunSql,
  SparkRun,
  SparkRunEnd,
  SparkScriptPart,
  SqlInput,
  SqlRun,
  SqlRunEnd,
} from '../../../model/run-ports.ts'
import type { ImageRecord } from './component-run.ts'
import type { ComponentLimits } from './limits.ts'
import { invalid, type Mapping, type TableOutputMapping } from './mapping/mapping.ts'
import { bySource } from './mapping/output-plan.ts'

const Script = Type.Union([Type.String(), Type.Array(Type.String())])
const Parameters = Type.Object({
  blocks: Type.Array(
    Type.Object({
      name: Type.Optional(Type.String()),
      codes: Type.Array(
        Type.Object({ name: Type.Optional(Type.String()), language: Type.Optional(Type.String()), script: Script }),
      ),
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
  const request = requestOf(step)
  const end = await sql.run(request, signal)
  // Columns given for a file mean that it has no header; these have one all the same.
  for (const { path, columns } of request.outputs) if (columns) await writeDataFile(`${path}.manifest`, '{"has_header":true}')
  return { ...end, image: { id: `sql/${step.component.id}:${step.tag}`, digests: [] } }
}

export interface SparkStep extends Omit<ScriptStep, 'say'> {
  readonly mask: SparkRun['mask']
  readonly say: SparkRun['say']
}

/** The same script on the registered Spark cluster (spec platform 1.29): results lie in the object store, not in the folder. */
export async function runSparkScript(
  spark: RunSpark,
  step: SparkStep,
  signal: AbortSignal,
): Promise<SparkRunEnd & { readonly image: ImageRecord }> {
  const { scope, folder, inputs, limits, mask, say, onStatement, mapping, component, tag } = step
  if (mapping.dataTypesSupport === 'authoritative')
    throw invalid(
      `${component.id} does not make tables by the types of the mapping (data_type_support "authoritative"): make the table with its types first, and its results have them`,
    )
  const results = mapping.outputTables.map((entry) => {
    const { source, destination } = entry
    if (!destination) throw invalid(`the output mapping of ${source} names no destination, which ${component.id} needs`)
    return { table: source, destination, columns: columnsOf(entry) }
  })
  const end = await spark.run({ scope, folder, inputs, limits, mask, say, onStatement, results, parts: partsOf(step) }, signal)
  return { ...end, image: { id: `spark/${component.id}:${tag}`, digests: [] } }
}

/** The columns of a result that its mapping names, in its order; undefined: all. */
function columnsOf({ columns, schema }: TableOutputMapping): readonly string[] | undefined {
  if (schema?.length) return schema.map(({ name }) => name)
  return columns?.length ? columns : undefined
}

const isLanguage = (language: string): language is SparkScriptPart['language'] => language === 'sql' || language === 'python'

export function requestOf(step: Omit<ScriptStep, 'tag'>): SqlRun {
  const outputs = [...bySource(step.mapping.outputTables)].map(([table, entries]) => {
    const [columns, ...others] = entries.map(columnsOf)
    if (others.some((other) => other?.join('\n') !== columns?.join('\n')))
      throw invalid(`the output mapping stores ${table} several times with different columns: make a view for each of them`)
    return { table, path: outputPath(step.folder, 'out/tables', table), columns }
  })
  return {
    scope: step.scope,
    database: join(step.folder.root, 'script.duckdb'),
    inputs: step.inputs,
    parts: partsOf(step),
    outputs,
    memoryMb: Math.floor(step.limits.memoryBytes / 1e6),
    threads: step.limits.cpus,
    timeoutMs: step.limits.timeoutMs,
    say: step.say,
    onStatement: step.onStatement,
  }
}

function partsOf({ configFile, component }: Pick<ScriptStep, 'configFile' | 'component'>): SparkScriptPart[] {
  const { parameters } = JSON.parse(configFile) as { parameters?: unknown } // config.json of this run
  if (!Value.Check(Parameters, parameters))
    throw invalid(`the component ${component.id} needs parameters.blocks: [{name, codes: [{name, script: ["SELECT ..."]}]}]`)
  return (parameters as Static<typeof Parameters>).blocks.flatMap((block, b) =>
    block.codes.map((code, c) => {
      const { language = 'sql' } = code
      if (!isLanguage(language))
        throw invalid(`a code has the language "${language.slice(0, 40)}", which is neither sql nor python`)
      if (language === 'python' && component.definition.type === 'sql')
        throw invalid(`a code is in Python, which ${component.id} does not run: platform.spark-sql does`)
      return {
        block: block.name ?? `Block ${b + 1}`,
        code: code.name ?? `Code ${c + 1}`,
        script: Array.isArray(code.script) ? code.script : [code.script],
        pointer: `/parameters/blocks/${b}/codes/${c}/script`,
        language,
      }
    }),
  )
}
