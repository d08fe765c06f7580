// Where data comes from and goes to: what configurations declare (mappings, tasks of flows) and what runs really read and wrote. No caller sees
// a table or a configuration here that their token may not read, nor what lies behind it.

import type { DeliveryCounts } from '../../../../../contract/delivery.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { canUseComponent, tablePermissionOf } from '../../../model/actor.ts'
import type { AliasOfTable, ColumnSource, ConfigurationLinks, ConfigurationName, TablePlace } from '../../../model/lineage.ts'
import type { Scope } from '../../../model/scope.ts'
import { type createFreshnessReader, freshnessView } from './freshness.ts'
import type { FreshnessRow, LineageStore, UseRow } from './lineage.store.ts'

export interface LineageDeps {
  readonly store: LineageStore
  readonly now: () => Date
  readonly freshnessAt: ReturnType<typeof createFreshnessReader>
  readonly canonicalId: (componentId: string) => string
  /** What the configurations of a branch refer to: all, or those of some components. */
  readonly links: (
    projectId: number,
    branchId: number,
    componentIds?: readonly string[],
  ) => Promise<readonly ConfigurationLinks[]>
  /** Of all configurations of a branch, with a mapping or without. */
  readonly names: (projectId: number, branchId: number, componentIds?: readonly string[]) => Promise<readonly ConfigurationName[]>
  /** Components that have configurations, here or in other projects. */
  readonly componentIds: () => Promise<readonly string[]>
  /** Aliases that the token may read, of tables that it may read. */
  readonly aliases: (scope: Scope) => Promise<readonly AliasOfTable[]>
  /** Throws when there is no such table, or the token may not read it. */
  readonly getTable: (scope: Scope, tableId: string) => Promise<unknown>
  /** The same, and where its rows are. */
  readonly placeOf: (scope: Scope, tableId: string) => Promise<TablePlace>
  readonly newestJob: (
    projectId: number,
    branchId: number,
    componentId: string,
    configurationId: string,
  ) => Promise<NewestJob | undefined>
  readonly deliveriesOf: DeliveriesOf
  /** Whether a component delivers data to other systems. */
  readonly isWriter: (componentId: string) => boolean
}

/** When jobs began, and what they delivered, by their ids. */
type DeliveriesOf = (
  projectId: number,
  jobIds: readonly number[],
) => Promise<ReadonlyMap<number, { readonly startedAt: number; readonly counts: DeliveryCounts }>>

export interface NewestJob {
  readonly id: string
  readonly status: string
  readonly kind: string | null
  readonly message: string | null
}

export type Direction = 'upstream' | 'downstream' | 'both'

interface Edge {
  readonly from: string
  readonly to: string
  readonly kind: 'read' | 'write' | 'run' | 'alias'
  readonly rowId: string | null
  /** A job that did it, or null: only declared by the configuration. */
  readonly jobId: string | null
  readonly time: string | null
}

const MAX_NODES = 2_000
/** Tables whose columns one answer has; a graph of one table rarely has more. */
const MAX_WITH_COLUMNS = 300
const tableNode = (id: string) => `table:${id}`
const tableOf = (node: string) => node.slice('table:'.length)
const configurationNode = (componentId: string, configurationId: string) => `configuration:${componentId}/${configurationId}`

export type Lineage = ReturnType<typeof createLineage>

export function createLineage(deps: LineageDeps) {
  const { store, now, canonicalId } = deps

  /** Every edge of the branch that the token may see, those of runs before those of mappings: of all configurations, or of some components. */
  async function edgesOf(
    scope: Scope,
    uses: readonly UseRow[],
    componentIds?: readonly string[],
  ): Promise<{ edges: Edge[]; names: Map<string, string> }> {
    const { actor, branch } = scope
    const [links, named, aliases] = await Promise.all([
      deps.links(actor.projectId, branch.id, componentIds),
      deps.names(actor.projectId, branch.id, componentIds),
      deps.aliases(scope),
    ])
    const names = new Map(named.map((one) => [configurationNode(one.componentId, one.configurationId), one.name]))
    const said = [...links.flatMap(edgesOfLinks), ...aliases.map(edgeOfAlias)]
    const done = uses.map(edgeOfUse)
    const known = new Set(done.map(keyOf))
    const mayTable = (node: string) => tablePermissionOf(actor, tableOf(node)) !== undefined
    const mayConfiguration = (node: string) =>
      canUseComponent(actor, node.slice('configuration:'.length, node.indexOf('/')), canonicalId)
    const maySee = (node: string) => (node.startsWith('table:') ? mayTable(node) : mayConfiguration(node))
    const edges = [...done, ...said.filter((edge) => !known.has(keyOf(edge)))].filter(
      ({ from, to }) => maySee(from) && maySee(to),
    )
    return { edges, names }
  }

  async function usedBy(scope: Scope, tableId: string) {
    await deps.getTable(scope, tableId)
    const { actor, branch } = scope
    const { edges, names } = await edgesOf(scope, await store.listUsesOf(actor.projectId, branch.id, tableId))
    const node = tableNode(tableId)
    const user = (id: string, { rowId, jobId, time }: Edge) => ({
      ...configurationOf(id, names),
      rowId,
      lastJobId: jobId,
      lastTime: time,
    })
    return {
      tableId,
      readBy: edges.filter(({ from, kind }) => from === node && kind === 'read').map((edge) => user(edge.to, edge)),
      writtenBy: edges.filter(({ to, kind }) => to === node && kind === 'write').map((edge) => user(edge.from, edge)),
      aliases: edges.filter(({ from, kind }) => from === node && kind === 'alias').map(({ to }) => tableOf(to)),
    }
  }

  /** The part of the graph that a table reaches; without a table, all of it. */
  async function graph(scope: Scope, tableId: string | undefined, direction: Direction, depth: number) {
    if (tableId !== undefined) await deps.getTable(scope, tableId)
    const { actor, branch } = scope
    const { edges, names } = await edgesOf(scope, await store.listUses(actor.projectId, branch.id))
    const fresh = new Map((await store.listFreshness(actor.projectId, branch.id)).map((row) => [row.table_id, row]))
    const kept = tableId === undefined ? edges : reached(edges, tableNode(tableId), direction, depth)
    const all = new Set([...(tableId === undefined ? [] : [tableNode(tableId)]), ...kept.flatMap(({ from, to }) => [from, to])])
    const shown = new Set([...all].slice(0, MAX_NODES))
    const origins = await columnsOfEdges(scope, [...shown])
    return {
      isComplete: shown.size === all.size,
      nodes: [...shown].map((id) => {
        if (!id.startsWith('table:')) return { id, kind: 'configuration', ...configurationOf(id, names) }
        const row = fresh.get(tableOf(id))
        return { id, kind: 'table', tableId: tableOf(id), freshness: row ? freshnessView(row, now()) : null }
      }),
      edges: kept
        .filter(({ from, to }) => shown.has(from) && shown.has(to))
        .map((edge) => ({ ...edge, columns: origins.get(keyOf(edge)) ?? null })),
    }
  }

  /** What written columns are made of, by the keys of edges. Columns of tables that the token may not read are left out. */
  async function columnsOfEdges({ actor, branch }: Scope, nodes: readonly string[]) {
    const tableIds = nodes.flatMap((id) => (id.startsWith('table:') ? [tableOf(id)] : []))
    const rows = await store.listColumns(actor.projectId, branch.id, tableIds.slice(0, MAX_WITH_COLUMNS))
    const mayRead = ({ tableId }: ColumnSource) => tablePermissionOf(actor, tableId) !== undefined
    return new Map(
      rows.map(({ columns, ...use }) => [
        keyOf(edgeOfUse(use)),
        columns.map(({ column, from }) => ({ column, from: from.filter(mayRead) })),
      ]),
    )
  }

  /** For each table: its writer, how the writer's last run ended, and which late tables it waits for. */
  async function judge({ actor, branch }: Scope) {
    const all = await store.listFreshness(actor.projectId, branch.id)
    const rows = all.filter(({ table_id }) => tablePermissionOf(actor, table_id) !== undefined)
    const late = new Set(
      rows.map((row) => freshnessView(row, now())).flatMap((row) => (row.state === 'late' ? [row.tableId] : [])),
    )
    const uses = await store.listUses(actor.projectId, branch.id)
    const jobs = new Map<string, Promise<NewestJob | undefined>>()
    const newest = ({ component_id, configuration_id }: UseRow) => {
      const key = configurationNode(component_id, configuration_id)
      const job = jobs.get(key) ?? deps.newestJob(actor.projectId, branch.id, component_id, configuration_id)
      jobs.set(key, job)
      return job
    }
    const judged = async (row: FreshnessRow) => {
      const writer = uses.find((use) => use.direction === 'write' && use.table_id === row.table_id)
      const isSeen = writer !== undefined && canUseComponent(actor, writer.component_id, canonicalId)
      const job = isSeen ? await newest(writer) : undefined
      const inputs = uses.filter((use) => use.direction === 'read' && isSameConfiguration(use, writer)).map((use) => use.table_id)
      return {
        ...freshnessView(row, now()),
        writer: isSeen
          ? { componentId: writer.component_id, configurationId: writer.configuration_id, rowId: writer.row_id || null }
          : null,
        lastLoad: {
          // A run notes what it wrote after the load, in the same transaction: a later load belongs to another run.
          jobId: isSeen && writer.used_at >= row.last_at ? String(writer.job_id) : null,
          tokenDescription: row.token_description,
        },
        failure: job?.status === 'error' ? { jobId: job.id, kind: job.kind, message: job.message } : null,
        lateInputs: inputs.filter((id) => late.has(id)),
      }
    }
    return { rows, judged }
  }

  /** Late tables first, each with what is wrong where it comes from; then tables whose last run failed, then the rest. */
  async function freshness(scope: Scope, limit: number, offset: number) {
    const { rows, judged } = await judge(scope)
    const shown = await Promise.all(rows.slice(offset, offset + limit).map(judged))
    const weight = (one: { state: string; failure: unknown }) => (one.state === 'late' ? 0 : one.failure !== null ? 1 : 2)
    return shown.toSorted((a, b) => weight(a) - weight(b) || b.lateByMs - a.lateByMs)
  }

  /** The writer of an alias of another project is not shown. */
  async function freshnessOf(scope: Scope, tableId: string) {
    const place = await deps.placeOf(scope, tableId)
    if (place.projectId === scope.actor.projectId && place.branchId === scope.branch.id) {
      const { rows, judged } = await judge(scope)
      const row = rows.find(({ table_id }) => table_id === place.tableId)
      if (row) return judged(row)
    }
    return { ...(await deps.freshnessAt(place)), writer: null, lastLoad: null, failure: null, lateInputs: [] }
  }

  /** Tables that writers read, those that are behind the longest first. Each load after the start of the last good run is missing there. */
  async function deliveries(scope: Scope) {
    const { actor, branch } = scope
    const writers = (await deps.componentIds()).filter(deps.isWriter)
    if (writers.length === 0) return []
    const { edges, names } = await edgesOf(scope, await store.listUses(actor.projectId, branch.id), writers)
    const reads = edges
      .filter(({ kind, to }) => kind === 'read' && names.has(to))
      .map((edge) => ({ ...edge, ...configurationOf(edge.to, names) }))
      .filter(({ componentId }) => deps.isWriter(componentId))
      .slice(0, MAX_NODES)
    const jobs = await deps.deliveriesOf(
      actor.projectId,
      reads.flatMap(({ jobId }) => (jobId === null ? [] : [Number(jobId)])),
    )
    const fresh = new Map((await store.listFreshness(actor.projectId, branch.id)).map((row) => [row.table_id, row]))
    const at = now().getTime()
    const shown = reads.map(({ from, componentId, configurationId, name, rowId, jobId, time }) => {
      const row = fresh.get(tableOf(from))
      const job = jobId === null ? undefined : jobs.get(Number(jobId))
      const since = job?.startedAt
      const missing = row && since !== undefined ? readStored<number[]>(row.loads).find((load) => load > since) : undefined
      return {
        ...{ componentId, configurationId, name, rowId, tableId: tableOf(from) },
        state: stateOf(jobId, missing),
        behindSeconds: jobId === null ? null : missing === undefined ? 0 : Math.max(0, Math.floor((at - missing) / 1000)),
        lastDelivery: jobId === null ? null : { jobId, time: time ?? '', counts: job?.counts ?? {} },
      }
    })
    const failed = new Map<string, NewestJob | undefined>()
    for (const { componentId, configurationId } of shown) {
      const key = configurationNode(componentId, configurationId)
      if (!failed.has(key)) failed.set(key, await deps.newestJob(actor.projectId, branch.id, componentId, configurationId))
    }
    return shown
      .map((one) => {
        const newest = failed.get(configurationNode(one.componentId, one.configurationId))
        const failure = newest?.status === 'error' ? { jobId: newest.id, kind: newest.kind, message: newest.message } : null
        return { ...one, failure }
      })
      .toSorted((a, b) => (b.behindSeconds ?? Number.MAX_SAFE_INTEGER) - (a.behindSeconds ?? Number.MAX_SAFE_INTEGER))
  }

  return { usedBy, graph, freshness, freshnessOf, deliveries }
}

const stateOf = (jobId: string | null, missing: number | undefined): 'never' | 'current' | 'behind' =>
  jobId === null ? 'never' : missing === undefined ? 'current' : 'behind'

const isSameConfiguration = (use: UseRow, other: UseRow | undefined): boolean =>
  use.component_id === other?.component_id && use.configuration_id === other.configuration_id

const keyOf = ({ from, to, kind, rowId }: Edge): string => JSON.stringify([from, to, kind, rowId])

function edgeOfUse(use: UseRow): Edge {
  const [table, configuration] = [tableNode(use.table_id), configurationNode(use.component_id, use.configuration_id)]
  const [from, to] = use.direction === 'read' ? [table, configuration] : [configuration, table]
  return {
    from,
    to,
    kind: use.direction,
    rowId: use.row_id || null,
    jobId: String(use.job_id),
    time: new Date(use.used_at).toISOString(),
  }
}

function edgesOfLinks({ componentId, configurationId, rowId, reads, writes, runs }: ConfigurationLinks): Edge[] {
  const own = configurationNode(componentId, configurationId)
  const said = { rowId, jobId: null, time: null }
  return [
    ...reads.map((id): Edge => ({ from: tableNode(id), to: own, kind: 'read', ...said })),
    ...writes.map((id): Edge => ({ from: own, to: tableNode(id), kind: 'write', ...said })),
    ...runs.map(
      (task): Edge => ({ from: own, to: configurationNode(task.componentId, task.configurationId), kind: 'run', ...said }),
    ),
  ]
}

const edgeOfAlias = ({ aliasId, sourceId }: AliasOfTable): Edge => ({
  from: tableNode(sourceId),
  to: tableNode(aliasId),
  kind: 'alias',
  rowId: null,
  jobId: null,
  time: null,
})

function configurationOf(node: string, names: ReadonlyMap<string, string>) {
  const [componentId = '', ...rest] = node.slice('configuration:'.length).split('/')
  return { componentId, configurationId: rest.join('/'), name: names.get(node) ?? null }
}

/** Edges within `depth` steps; a configuration between two tables is a step of its own. */
function reached(edges: readonly Edge[], start: string, direction: Direction, depth: number): Edge[] {
  const kept = new Set<Edge>()
  const walk = (ends: (edge: Edge) => readonly [at: string, next: string]): void => {
    const seen = new Set([start])
    let front = new Set([start])
    for (let step = 0; step < depth && front.size > 0 && seen.size < MAX_NODES; step++) {
      const ahead = new Set<string>()
      for (const edge of edges) {
        const [at, next] = ends(edge)
        if (edge.kind === 'run' || !front.has(at)) continue
        kept.add(edge)
        if (!seen.has(next)) ahead.add(next)
        seen.add(next)
      }
      front = ahead
    }
  }
  if (direction !== 'upstream') walk(({ from, to }) => [from, to])
  if (direction !== 'downstream') walk(({ from, to }) => [to, from])
  // Flows that run a configuration of the picture belong to it.
  const nodes = new Set([...kept].flatMap(({ from, to }) => [from, to]))
  return [...kept, ...edges.filter(({ kind, to }) => kind === 'run' && nodes.has(to))]
}
