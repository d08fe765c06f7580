// Where data comes from and goes to: configurations and tables with lines between, and whether each is well. The list has the same content.

import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { Job } from '../../../client/src/operations.ts'
import {
  type AssetEdge,
  type AssetNode,
  type Assets,
  FLOW_COLUMN,
  fold,
  layOut,
  type PlacedNode,
  type Spot,
} from '../assets/asset-layout.ts'
import { behindText, type Delivery, worstOf } from '../facts/deliveries.ts'
import { progressText } from '../facts/job.ts'
import { rowsOf } from '../facts/job-rows.ts'
import { useNames } from '../facts/names.ts'
import { useSchedulesOf } from '../facts/schedules.ts'
import { tableNameOf } from '../facts/table-id.ts'
import { LOOKED_AT } from '../facts/trouble.ts'
import { duration, hourAndMinute, moment, plural } from '../format.ts'
import { Lines, Loaded, useLoad } from '../load.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { StatusIcon } from '../parts/status.tsx'
import './views.css'

const WIDTH = 168
const HEIGHT = 48
const COLUMN_PX = 236
const ROW_PX = 62
const LEFT = 16
const TOP = 36

/** What a node shows. */
interface Look {
  readonly name: string
  readonly status: string | undefined
  readonly icon: IconName
  readonly note: string
  readonly tone: '' | 'box-fresh' | 'box-late' | 'box-failed' | 'box-running' | 'box-plain'
}

type JobOf = (componentId: string, configurationId: string) => Job | undefined

/** Steps from one table; a configuration is a step. */
const DEPTH = 4

/** The newest job of each configuration. */
function useNewestJobs(): JobOf {
  const { data } = useLoad('queue.search', { query: { limit: LOOKED_AT } })
  const newest = useMemo(
    () => new Map((data ?? []).toReversed().map((job) => [`${job.component} ${job.config}`, job])), // they come newest first
    [data],
  )
  return (componentId, configurationId) => newest.get(`${componentId} ${configurationId}`)
}

/** Of the whole project, or of what one table comes from and goes to. */
export function AssetGraph({ tableId }: { tableId?: string }) {
  const query = useLoad('lineage.graph', { query: tableId === undefined ? {} : { tableId, depth: DEPTH } })
  const jobOf = useNewestJobs()
  const schedules = useSchedulesOf(query.data?.nodes.flatMap(({ configurationId }) => configurationId ?? []) ?? [])
  const deliveries = useLoad('lineage.deliveries', {})
  const behind = useMemo(() => worstOf(deliveries.data ?? []), [deliveries.data])
  const nameOf = useNames()
  const [isList, setList] = useState(false)
  const assets = useMemo(() => (query.data ? fold(query.data) : undefined), [query.data])
  const lookOf = (node: AssetNode): Look => {
    if (node.tables) return lookOfBucket(node)
    if (node.tableId !== undefined) return lookOfTable(node)
    const { componentId = '', configurationId = '' } = node
    const next = schedules.find(({ target }) => target.componentId === componentId && target.configurationId === configurationId)
    const job = jobOf(componentId, configurationId)
    const look = lookOfConfiguration(node.name ?? nameOf(componentId, configurationId), job, next)
    const delivery = behind.get(`${componentId} ${configurationId}`)
    return delivery && look.tone === '' ? lookOfDelivery(look, delivery) : look
  }
  if (tableId === undefined && assets?.nodes.length === 0) return null
  const isAlone = tableId !== undefined && assets?.edges.length === 0
  return (
    <section className="card" aria-labelledby="assets">
      <header>
        <h2 id="assets">Where data comes from and goes to</h2>
        {query.data && !query.data.isComplete ? <span className="fine mute">A part of it: there is more.</span> : null}
        {tableId === undefined ? null : <span className="fine mute">{plural(DEPTH, 'step')} each way</span>}
        <fieldset className="segments small push" aria-label="View">
          <button type="button" aria-pressed={!isList} onClick={() => setList(false)}>
            Graph
          </button>
          <button type="button" aria-pressed={isList} onClick={() => setList(true)}>
            List
          </button>
        </fieldset>
      </header>
      <Loaded query={query} skeleton={<Lines count={6} />}>
        {() => {
          if (isAlone) return <p className="inset mute">Nothing that runs here writes or reads this table.</p>
          if (isList) return <AssetList assets={assets!} lookOf={lookOf} />
          return <Picture assets={assets!} lookOf={lookOf} jobOf={jobOf} tableId={tableId} />
        }}
      </Loaded>
    </section>
  )
}

function lookOfTable({ tableId = '', freshness }: AssetNode): Look {
  const name = tableNameOf(tableId)
  const at = freshness?.lastLoadTime
  if (freshness?.state === 'late')
    return { name, status: 'late', icon: 'st-late', note: `Late by ${duration(freshness.lateByMs / 1000)}`, tone: 'box-late' }
  if (!at) return { name, status: 'never', icon: 'table', note: 'Never loaded', tone: 'box-plain' }
  if (freshness.state === 'fresh')
    return { name, status: 'fresh', icon: 'st-ok', note: `Fresh, ${hourAndMinute(at)}`, tone: 'box-fresh' }
  return { name, status: undefined, icon: 'table', note: `Loaded ${hourAndMinute(at)}`, tone: 'box-plain' }
}

/** A writer shows how far its target is behind, unless it runs or has failed. */
const lookOfDelivery = (look: Look, delivery: Delivery): Look => {
  const note = behindText(delivery)
  return { ...look, note: `${note.charAt(0).toUpperCase()}${note.slice(1)}`, tone: delivery.state === 'behind' ? 'box-late' : '' }
}

function lookOfBucket({ name, tables = [] }: AssetNode): Look {
  const late = tables.filter(({ freshness }) => freshness?.state === 'late').length
  const note = late === 0 ? plural(tables.length, 'table') : `${late} of ${plural(tables.length, 'table')} late`
  return {
    name: name ?? '',
    status: late > 0 ? 'late' : undefined,
    icon: 'disk',
    note,
    tone: late > 0 ? 'box-late' : 'box-fresh',
  }
}

function lookOfConfiguration(
  name: string,
  job: Job | undefined,
  schedule: { readonly nextExecutionTime: string | null; readonly stoppedReason: string | null } | undefined,
): Look {
  const seen = { name, icon: 'plug' as const, tone: '' as const }
  if (job?.status === 'processing')
    return { ...seen, status: job.status, note: `Running${progressText(job, ', ')}`, tone: 'box-running' }
  if (job?.status === 'error')
    return { ...seen, status: 'error', note: `Failed ${hourAndMinute(job.endTime!)}`, tone: 'box-failed' }
  if (schedule?.stoppedReason) return { ...seen, status: 'stopped', note: 'Schedule stopped' }
  if (schedule?.nextExecutionTime)
    return { ...seen, status: job?.status, note: `Next ${hourAndMinute(schedule.nextExecutionTime)}` }
  return { ...seen, status: job?.status, note: job?.endTime ? `Ran ${moment(job.endTime)}` : 'Has not run yet' }
}

interface ViewProps {
  readonly assets: Assets
  readonly lookOf: (node: AssetNode) => Look
}

/** Configurations and tables take turns; what reads nothing is a source, what writes nothing delivers. */
function laneOf(column: number, placed: readonly PlacedNode[], { edges }: Assets): string {
  const here = placed.filter((one) => one.column === column).map(({ node }) => node)
  if (here.every(({ kind }) => kind !== 'configuration')) return 'Tables'
  if (column === FLOW_COLUMN) return 'Flows'
  if (column === 0) return 'Sources'
  const writes = here.filter(({ id }) => edges.some(({ from, kind }) => from === id && kind !== 'run'))
  if (writes.length === 0) return 'Delivery'
  return writes.length === here.length ? 'Transformations' : 'Transformations, delivery'
}

interface PictureProps extends ViewProps {
  readonly jobOf: JobOf
  /** The table that the picture is about. */
  readonly tableId: string | undefined
}

function Picture({ assets, lookOf, jobOf, tableId }: PictureProps) {
  const { placed, bends, rowsOf: lengths } = useMemo(() => layOut(assets), [assets])
  const byId = new Map(placed.map((one) => [one.node.id, one]))
  const used = placed.map(({ column }) => column)
  const [first, last] = [Math.min(...used), Math.max(...used)]
  const rows = Math.max(...lengths.values())
  /** Short columns stand in the middle. */
  const topOf = ({ column, row }: Spot) => TOP + (row + (rows - lengths.get(column)!) / 2) * ROW_PX
  const leftOf = ({ column }: Spot) => LEFT + (column - first) * COLUMN_PX
  const bottom = TOP + rows * ROW_PX - (ROW_PX - HEIGHT) / 2
  const [width, height] = [LEFT * 2 + (last - first) * COLUMN_PX + WIDTH, TOP + rows * ROW_PX]
  const tables = assets.nodes.filter(({ kind }) => kind === 'table').length
  return (
    <>
      <Scroll
        label={`Asset graph: ${plural(assets.nodes.length - tables, 'configuration')}, ${plural(tables, 'table')}`}
        className="assets"
      >
        <div className="asset-canvas" style={{ width, height }}>
          <svg className="edges" aria-hidden="true">
            {assets.edges.map((edge) => {
              const [from, to] = [byId.get(edge.from), byId.get(edge.to)]
              if (!from || !to) return null
              return (
                <path
                  key={`${edge.from} ${edge.to} ${edge.rowId} ${edge.kind}`}
                  className={toneOf(edge, from.node, to.node, jobOf)}
                  d={wayOf([from, ...(bends.get(edge) ?? []), to], { leftOf, topOf, bottom })}
                />
              )
            })}
          </svg>
          {[...new Set(used)].map((column) => (
            <span key={column} className="lane" style={{ left: LEFT + (column - first) * COLUMN_PX }}>
              {laneOf(column, placed, assets)}
            </span>
          ))}
          {placed.map((one) => (
            <AssetBox
              key={one.node.id}
              node={one.node}
              look={lookOf(one.node)}
              isCurrent={tableId !== undefined && one.node.tableId === tableId}
              style={{ left: leftOf(one), top: topOf(one) }}
            />
          ))}
        </div>
      </Scroll>
      <div className="legend flex-row wrap gap-4 fine mute">
        <span className="flex-row gap-1">
          <i className="of-configuration" />
          Configuration
        </span>
        <span className="flex-row gap-1">
          <i className="of-table" />
          Table
        </span>
        <span className="flex-row gap-1">
          <i className="failing" />
          Blocked
        </span>
        <span className="flex-row gap-1">
          <i className="moving" />
          Moving now
        </span>
      </div>
    </>
  )
}

interface Canvas {
  readonly leftOf: (spot: Spot) => number
  readonly topOf: (spot: Spot) => number
  /** Below all boxes. */
  readonly bottom: number
}

/** A line through places from left to right; one that leads back goes below all boxes. */
function wayOf(spots: readonly Spot[], { leftOf, topOf, bottom }: Canvas): string {
  const points = spots.map((spot) => ({ left: leftOf(spot), right: leftOf(spot) + WIDTH, y: topOf(spot) + HEIGHT / 2 }))
  const [from, to] = [points[0]!, points.at(-1)!]
  if (to.left < from.right) {
    const room = (COLUMN_PX - WIDTH) / 2
    return [
      `M${from.right} ${from.y}C${from.right + room} ${from.y} ${from.right + room} ${bottom} ${from.right} ${bottom}`,
      `L${to.left} ${bottom}C${to.left - room} ${bottom} ${to.left - room} ${to.y} ${to.left} ${to.y}`,
    ].join('')
  }
  const steps = points.slice(1).map(({ left, right, y }, index) => {
    const before = points[index]!
    const middle = (before.right + left) / 2
    const isLast = index === points.length - 2
    return `C${middle} ${before.y} ${middle} ${y} ${left} ${y}${isLast ? '' : `L${right} ${y}`}`
  })
  return `M${from.right} ${from.y}${steps.join('')}`
}

/** Blocked behind a failed row and behind a late table; moving where a configuration runs. */
function toneOf({ rowId, kind }: AssetEdge, from: AssetNode, to: AssetNode, jobOf: JobOf): string {
  if (kind === 'run') return 'runs'
  const configuration = from.kind === 'configuration' ? from : to
  const job = jobOf(configuration.componentId ?? '', configuration.configurationId ?? '')
  if (job?.status === 'processing') return 'moving'
  if (from.freshness?.state === 'late') return 'failing'
  if (from !== configuration || job?.status !== 'error') return ''
  return rowsOf(job).some((row) => row.status === 'error' && row.rowId === rowId) ? 'failing' : ''
}

interface BoxProps extends Pick<TargetProps, 'node' | 'style'> {
  readonly look: Look
  readonly isCurrent: boolean
}

function AssetBox({ node, look, isCurrent, style }: BoxProps) {
  const className = `asset-box ${node.kind === 'configuration' ? 'of-configuration' : 'of-table'} ${look.tone} ${isCurrent ? 'here' : ''}`
  return (
    <Target node={node} className={className} style={style}>
      <span className="box-name">
        {look.status ? <StatusIcon status={look.status} /> : <Icon name={look.icon} />}
        <span className="clip">{look.name}</span>
      </span>
      <span className="box-note">{look.note}</span>
    </Target>
  )
}

interface TargetProps {
  readonly node: AssetNode
  readonly className: string
  readonly style?: React.CSSProperties | undefined
  readonly children: React.ReactNode
}

function Target({ node: { tableId, tables, name, componentId = '', configurationId = '' }, ...rest }: TargetProps) {
  if (tableId !== undefined)
    return <Link {...rest} to="/storage/$tableId" params={{ tableId }} search={{ tab: 'lineage' }} title={tableId} />
  if (tables) return <Link {...rest} to="/storage" search={{ q: name ?? '' }} title={name ?? ''} />
  return <Link {...rest} to="/components/$componentId/$configurationId" params={{ componentId, configurationId }} />
}

function AssetList({ assets, lookOf }: ViewProps) {
  const names = new Map(assets.nodes.map((node) => [node.id, lookOf(node).name]))
  const namesOf = (ids: readonly string[]) => ids.map((id) => names.get(id)).join(', ')
  return (
    <Scroll label="Configurations and tables" className="assets">
      <table className="data-table">
        <thead>
          <tr>
            <th>Name</th>
            <th>State</th>
            <th>Comes from</th>
            <th>Goes to</th>
          </tr>
        </thead>
        <tbody>
          {assets.nodes.map((node) => {
            const look = lookOf(node)
            return (
              <tr key={node.id}>
                <td>
                  <Target node={node} className="flex-row medium">
                    <Icon name={node.kind === 'configuration' ? 'plug' : 'table'} />
                    {node.tableId ?? look.name}
                  </Target>
                </td>
                <td className="nowrap">
                  <span className="flex-row gap-1">
                    {look.status ? <StatusIcon status={look.status} /> : null}
                    {look.note}
                  </span>
                </td>
                <td className="mute">{namesOf(assets.edges.filter(({ to }) => to === node.id).map(({ from }) => from))}</td>
                <td className="mute">{namesOf(assets.edges.filter(({ from }) => from === node.id).map(({ to }) => to))}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scroll>
  )
}
