// The results of a run of dbt, read from its artefacts (manifest.json, run_results.json). They come from a program of users: nothing in them is
// trusted to have a shape. Pure.

import type { DbtNode, DbtTestResult } from './nodes.ts'

/** More are not listed in the result of a job. */
export const MAX_NODES = 5_000
const MAX_MESSAGE = 2_000
/** Statuses of dbt that mean that a relation was built. */
const BUILT = ['success']
const FAILED = ['error', 'fail', 'runtime error']
/** What has a relation that can become a table. */
const WITH_ROWS = ['model', 'seed', 'snapshot']

export interface DbtArtifacts {
  readonly manifest: unknown
  readonly runResults: unknown
}

export interface BuiltRelation {
  readonly id: string
  readonly schema: string
  readonly name: string
  /** Of a model or snapshot; undefined for seeds. */
  readonly query: string | undefined
}

type Dict = Readonly<Record<string, unknown>>

const dictOf = (value: unknown): Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Dict) : {}
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const together = new WeakMap<object, Dict>()

/** Built once for each manifest: it may have thousands. */
function nodesOf(manifest: unknown): Dict {
  const content = dictOf(manifest)
  const before = together.get(content)
  if (before) return before
  const nodes = { ...dictOf(content.nodes), ...dictOf(content.unit_tests) }
  together.set(content, nodes)
  return nodes
}

/** Nodes or sources of a manifest, or results of a run, that are read at most. */
export const MAX_READ = 50_000

export const hasTooMany = (artifact: unknown): boolean =>
  listOf(dictOf(artifact).results).length > MAX_READ ||
  Object.keys(nodesOf(artifact)).length > MAX_READ ||
  Object.keys(dictOf(dictOf(artifact).sources)).length > MAX_READ

/** Every node of the run, in the order of their ends. */
export function nodesIn(
  { manifest, runResults }: DbtArtifacts,
  tableOf: (schema: string, name: string) => string | undefined,
): DbtNode[] {
  const known = nodesOf(manifest)
  return listOf(dictOf(runResults).results)
    .slice(0, MAX_NODES)
    .map(dictOf)
    .map((result) => {
      const id = textOf(result.unique_id) ?? 'unknown'
      const node = dictOf(known[id])
      const [kind = 'model'] = id.split('.')
      const relation = relationOf(node)
      const started = startOf(result)
      const rows = Number(dictOf(result.adapter_response).rows_affected)
      return {
        id: id.slice(0, 500),
        name: (textOf(node.name) ?? id.split('.')[2] ?? id).slice(0, 300),
        kind: kind.slice(0, 40),
        materialized: textOf(dictOf(node.config).materialized)?.slice(0, 40) ?? null,
        status: (textOf(result.status) ?? 'unknown').slice(0, 40),
        startMs: started ?? null,
        durationMs: secondsOf(result.execution_time),
        rows: kind !== 'test' && Number.isInteger(rows) && rows >= 0 ? rows : null,
        failures: Number.isInteger(result.failures) ? Number(result.failures) : null,
        message: messageOf(result),
        tableId: (relation && WITH_ROWS.includes(kind) && tableOf(relation.schema, relation.name)) || null,
      }
    })
}

/** Relations that exist after the run because it, or one since the last good run, built them: those that others read first. */
export function builtIn({ manifest }: DbtArtifacts, ids: ReadonlySet<string>): BuiltRelation[] {
  const known = nodesOf(manifest)
  const ordered = inOrder(known)
  return ordered.flatMap((id) => {
    const node = dictOf(known[id])
    const relation = relationOf(node)
    const [kind = ''] = id.split('.')
    const isEphemeral = dictOf(node.config).materialized === 'ephemeral'
    if (!relation || !WITH_ROWS.includes(kind) || isEphemeral || !ids.has(id)) return []
    return [{ id, ...relation, query: kind === 'seed' ? undefined : textOf(node.compiled_code) }]
  })
}

export const builtIds = ({ runResults }: DbtArtifacts): string[] =>
  listOf(dictOf(runResults).results)
    .map(dictOf)
    .flatMap(({ unique_id, status }) => (BUILT.includes(String(status)) && typeof unique_id === 'string' ? [unique_id] : []))

/** Whether a node failed, or was left out because of one that did. */
export const hasFailed = (runResults: unknown): boolean =>
  listOf(dictOf(runResults).results)
    .map(dictOf)
    .some(({ status }) => FAILED.includes(String(status)))

/** Tables that the project reads, with the bucket as the schema. */
export function sourcesIn(manifest: unknown): readonly { readonly schema: string; readonly name: string }[] {
  return Object.values(dictOf(dictOf(manifest).sources)).flatMap((source) => {
    const { schema, identifier, name } = dictOf(source)
    const [bucket, table] = [textOf(schema), textOf(identifier) ?? textOf(name)]
    return bucket !== undefined && table !== undefined ? [{ schema: bucket, name: table }] : []
  })
}

/** How many results of tests there are; tests that were skipped have none. */
export const testResultsIn = ({ runResults }: DbtArtifacts): number => testResults(runResults).length

const testResults = (runResults: unknown): Dict[] =>
  listOf(dictOf(runResults).results)
    .map(dictOf)
    .filter(({ unique_id, status }) => String(unique_id).startsWith('test.') && status !== 'skipped' && status !== 'no-op')

/** Results of tests, each with the table that it is about, `otherwise` where none is known; without one they are left out. */
export function testsIn(
  { manifest, runResults }: DbtArtifacts,
  tableOf: (schema: string, name: string) => string | undefined,
  otherwise?: string,
): DbtTestResult[] {
  const known = nodesOf(manifest)
  const sources = dictOf(dictOf(manifest).sources)
  return testResults(runResults).flatMap((result) => {
    const id = String(result.unique_id)
    const node = dictOf(known[id])
    const tableId =
      testedIds(node)
        .map((one) => relationOf(dictOf(known[one] ?? sources[one])))
        .map((relation) => relation && tableOf(relation.schema, relation.name))
        .find((one) => one !== undefined) ?? otherwise
    if (tableId === undefined) return []
    return [
      {
        tableId,
        id: id.slice(0, 500),
        name: (textOf(node.name) ?? id.split('.')[2] ?? id).slice(0, 200),
        check: textOf(dictOf(node.test_metadata).name)?.slice(0, 100) ?? 'sql',
        column: textOf(node.column_name)?.slice(0, 200) ?? null,
        severity: severityOf(node, result),
        status: TEST_STATUSES[String(result.status)] ?? 'error',
        failures: Number.isInteger(result.failures) ? Number(result.failures) : null,
        message: messageOf(result),
      },
    ]
  })
}

const TEST_STATUSES: Readonly<Record<string, DbtTestResult['status']>> = { pass: 'passed', fail: 'failed', warn: 'failed' }

/** A test of severity error may still only warn, by its limits: its status shows it. */
const severityOf = (node: Dict, { status }: Dict): DbtTestResult['severity'] =>
  status === 'warn' || String(dictOf(node.config).severity).toLowerCase() === 'warn' ? 'warn' : 'stop'

/** What a test is about: the node that it is attached to, else what it reads. */
function testedIds(node: Dict): readonly string[] {
  const attached = textOf(node.attached_node)
  const read = listOf(dictOf(node.depends_on).nodes).filter((one) => typeof one === 'string')
  return attached === undefined ? read : [attached, ...read]
}

function relationOf(node: Dict): { readonly schema: string; readonly name: string } | undefined {
  const schema = textOf(node.schema)
  const name = textOf(node.alias) ?? textOf(node.identifier) ?? textOf(node.name)
  return schema !== undefined && name !== undefined ? { schema, name } : undefined
}

function messageOf({ status, message }: Dict): string | null {
  const text = textOf(message)?.trim().slice(0, MAX_MESSAGE)
  return text === undefined || status === 'success' || status === 'pass' ? null : text
}

const secondsOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value * 1000) : null

function startOf({ timing }: Dict): number | undefined {
  const times = listOf(timing)
    .map((one) => Date.parse(String(dictOf(one).started_at)))
    .filter((ms) => Number.isFinite(ms))
  return times.reduce<number | undefined>((least, ms) => (least === undefined || ms < least ? ms : least), undefined)
}

/** Ids with what they depend on before them. A manifest that goes in circles is none of dbt's; every id comes once. */
function inOrder(known: Dict): string[] {
  const done = new Set<string>()
  const order: string[] = []
  for (const first of Object.keys(known)) {
    const open: { readonly id: string; readonly isLeft: boolean }[] = [{ id: first, isLeft: false }]
    for (let at = open.pop(); at; at = open.pop()) {
      if (at.isLeft) {
        order.push(at.id)
        continue
      }
      if (done.has(at.id) || !(at.id in known)) continue
      done.add(at.id)
      open.push({ id: at.id, isLeft: true })
      for (const before of listOf(dictOf(dictOf(known[at.id]).depends_on).nodes))
        if (typeof before === 'string') open.push({ id: before, isLeft: false })
    }
  }
  return order
}
