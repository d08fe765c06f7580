// A run of dbt: each model, seed, snapshot and test with its time, rows, error and table. What failed can run again alone.

import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Job } from '../../../../client/src/operations.ts'
import { parsed, setAt } from '../../document/json-text.ts'
import { useConfiguration } from '../../facts/use-configuration.ts'
import { count, plural } from '../../format.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'

interface Node {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly materialized: string | null
  readonly status: string
  readonly durationMs: number | null
  readonly rows: number | null
  readonly failures: number | null
  readonly message: string | null
  readonly tableId: string | null
}

const RETRY = ['parameters', 'retry']
/** So many are shown at first. */
const SHOWN = 100
const STATUSES: Readonly<Record<string, string>> = { pass: 'success', fail: 'error', warn: 'warning', 'runtime error': 'error' }
const statusOf = ({ status }: Node): string => STATUSES[status] ?? status
const ORDER = ['error', 'warning', 'skipped']
/** What went wrong first; otherwise in the order of the run. */
const rank = (node: Node): number => (ORDER.indexOf(statusOf(node)) + ORDER.length + 1) % (ORDER.length + 1)

/** Undefined for jobs of other components. */
export const dbtNodesOf = (job: Job): readonly Node[] | undefined =>
  (job.result as { readonly dbt?: { readonly nodes?: readonly Node[] } }).dbt?.nodes // described loosely

export function JobDbt({ job, nodes }: { job: Job; nodes: readonly Node[] }) {
  const [isWhole, setWhole] = useState(false)
  const failed = nodes.filter((node) => statusOf(node) === 'error').length
  const sorted = nodes.toSorted((a, b) => rank(a) - rank(b))
  const shown = isWhole ? sorted : sorted.slice(0, SHOWN)
  return (
    <section className="card" aria-labelledby="dbt">
      <header>
        <h2 id="dbt">Models and tests</h2>
        <span className="mute fine push">
          {plural(nodes.length, 'node')}
          {failed > 0 ? `, ${failed} failed` : ''}
        </span>
      </header>
      {failed > 0 && job.config ? <Retry job={job} configurationId={job.config} /> : null}
      {nodes.length === 0 ? <p className="inset mute">Nothing had to run.</p> : null}
      {nodes.length > 0 ? (
        <ListTable label="Models and tests" columns={['Status', 'Name', 'Kind', { num: 'Rows' }, { num: 'Time' }]}>
          {shown.map((node) => (
            <NodeRow key={node.id} node={node} />
          ))}
        </ListTable>
      ) : null}
      {shown.length < sorted.length ? (
        <div className="inset">
          <button type="button" className="button" onClick={() => setWhole(true)}>
            Show all {count(sorted.length)}
          </button>
        </div>
      ) : null}
    </section>
  )
}

const NodeRow = ({ node }: { node: Node }) => (
  <tr>
    <td>
      <Status status={statusOf(node)} />
    </td>
    <td>
      {node.tableId ? (
        <Link className="wrap" to="/storage/$tableId" params={{ tableId: node.tableId }}>
          {node.name}
        </Link>
      ) : (
        <span className="wrap">{node.name}</span>
      )}
      {node.message ? <p className="fine soft wrap">{node.message}</p> : null}
    </td>
    <td className="nowrap">{node.materialized && node.kind === 'model' ? node.materialized : node.kind}</td>
    <td className="numeric tabular">{rowsText(node)}</td>
    <td className="numeric tabular nowrap">{node.durationMs === null ? '' : `${(node.durationMs / 1000).toFixed(2)} s`}</td>
  </tr>
)

const rowsText = ({ rows, failures }: Node): string =>
  failures !== null && failures > 0 ? `${count(failures)} failed` : rows === null ? '' : count(rows)

/** The configuration stays as it is: the switch holds for this one run. */
function Retry({ job, configurationId }: { job: Job; configurationId: string }) {
  const navigate = useNavigate()
  const { data } = useConfiguration({ componentId: job.component, configurationId })
  const retry = useMutation({
    mutationFn: () =>
      api.call('queue.create', {
        body: {
          ...{ component: job.component, config: configurationId, branchId: job.branchId, mode: 'run' as const },
          configData: parsed(setAt(data!.root.text, RETRY, true)) as Record<string, unknown>, // of a configuration
        },
      }),
    onSuccess: ({ id }) => {
      toast(`Job ${id} started.`)
      void navigate({ to: '/jobs/$jobId', params: { jobId: id } })
    },
  })
  return (
    <div className="inset stack-3">
      {retry.error ? <Problem error={retry.error} /> : null}
      <ActButton needs="queue.create" className="button" disabled={!data || retry.isPending} onClick={() => retry.mutate()}>
        <Icon name="rerun" />
        <span>Run failed models again</span>
      </ActButton>
    </div>
  )
}
