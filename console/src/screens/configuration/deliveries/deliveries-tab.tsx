// What a writer has delivered: how far its targets are behind, its jobs with their counts, receipts, and rows that are sent again.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Job } from '../../../../../client/src/operations.ts'
import { effectiveConfiguration } from '../../../../../contract/effective-configuration.ts'
import { type ChosenRow, deliveredTable, deliveryKey, notChosen, sendAgain } from '../../../../../contract/send-again.ts'
import { countsOfJob, WRITERS } from '../../../facts/deliveries.ts'
import { messageOf } from '../../../facts/job.ts'
import { type ConfigurationPlace, type LoadedConfiguration, useRuns } from '../../../facts/use-configuration.ts'
import { moment, plural } from '../../../format.ts'
import { Lines, Loaded, useLoad } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { Label } from '../../../parts/guide.tsx'
import { ListTable } from '../../../parts/list-table.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { useSelection } from '../../../parts/selection.ts'
import { Status } from '../../../parts/status.tsx'
import { api } from '../../../session.ts'
import { toast } from '../../../shell/toast.tsx'
import { DeliveryTable } from '../../../views/delivery-table.tsx'
import '../configuration.css'

const route = getRouteApi('/components/$componentId/$configurationId')

export const hasDeliveries = (componentId: string): boolean => WRITERS.has(componentId)

export function DeliveriesTab({ place, loaded }: { place: ConfigurationPlace; loaded: LoadedConfiguration }) {
  const runs = useRuns(place, 50)
  const navigate = route.useNavigate()
  const { rows } = loaded.configuration
  const { row: wanted = rows[0]?.id } = route.useSearch()
  const rowId = rows.some(({ id }) => id === wanted) ? wanted : undefined
  const { text } = effectiveConfiguration(loaded.root.text, rowId === undefined ? undefined : loaded.rows.get(rowId)?.text)
  return (
    <div className="stack-4">
      <State place={place} />
      <section className="card" aria-labelledby="sent">
        <header>
          <h2 id="sent">What was sent</h2>
        </header>
        <Loaded query={runs} skeleton={<Lines />}>
          {(jobs) => (jobs.length === 0 ? <p className="inset mute">It has not run yet.</p> : <Sent jobs={jobs} />)}
        </Loaded>
      </section>
      {rows.length > 1 ? (
        <label className="flex-row">
          <span className="mute">Row</span>
          <select
            className="input small"
            aria-label="Row"
            value={rowId}
            onChange={(event) => void navigate({ search: (old) => ({ ...old, row: event.target.value }) })}
          >
            {rows.map(({ id, name }) => (
              <option key={id} value={id}>
                {name || id}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      <Again key={rowId} place={place} configuration={JSON.parse(text)} jobs={runs.data ?? []} />
    </div>
  )
}

function State({ place: { componentId, configurationId } }: { place: ConfigurationPlace }) {
  const query = useLoad('lineage.deliveries', {})
  return (
    <section className="card" aria-labelledby="behind">
      <header>
        <h2 id="behind">How far the target is behind</h2>
      </header>
      <Loaded query={query} skeleton={<Lines count={2} />}>
        {(all) => {
          const own = all.filter((one) => one.componentId === componentId && one.configurationId === configurationId)
          return own.length === 0 ? (
            <p className="inset mute">No table of the project is in the input mapping.</p>
          ) : (
            <DeliveryTable deliveries={own} isOfOne />
          )
        }}
      </Loaded>
    </section>
  )
}

/** Each job with its counts and the tables it has left: receipts, rejected rows, files. */
const Sent = ({ jobs }: { jobs: readonly Job[] }) => (
  <ListTable label="Deliveries" columns={['Status', 'Started', 'What', 'Tables', 'Job']}>
    {jobs.map((job) => (
      <tr key={job.id}>
        <td>
          <Status status={job.status} />
        </td>
        <td className="nowrap">{moment(job.startTime ?? job.createdTime)}</td>
        <td className="what">
          {countsOfJob(job)}
          {job.status === 'error' || job.status === 'warning' ? <div className="fine mute clip">{messageOf(job)}</div> : null}
        </td>
        <td>
          {tablesOf(job).map(({ id }) => (
            <div key={id}>
              <Link to="/storage/$tableId" params={{ tableId: id }}>
                {id.split('.').at(-1)}
              </Link>
            </div>
          ))}
        </td>
        <td className="identifier">
          <Link to="/jobs/$jobId" params={{ jobId: job.id }}>
            {job.id}
          </Link>
        </td>
      </tr>
    ))}
  </ListTable>
)

interface OutputTable {
  readonly id: string
  readonly columns: readonly { readonly name: string }[]
}

const tablesOf = ({ result }: Job): readonly OutputTable[] =>
  (result as { readonly output?: { readonly tables?: readonly OutputTable[] } }).output?.tables ?? []

interface AgainProps {
  readonly place: ConfigurationPlace
  /** The effective one of the row. */
  readonly configuration: Configuration
  readonly jobs: readonly Job[]
}

interface Configuration {
  readonly [name: string]: unknown
  readonly parameters?: { readonly receiptsTable?: string }
}

function Again({ place, configuration, jobs }: AgainProps) {
  const { componentId } = place
  const source = deliveredTable(configuration)
  const table = useLoad('tables.get', source === undefined ? undefined : { path: { tableId: source } })
  const key = deliveryKey(configuration, table.data?.primaryKey ?? [])
  const refusal = notChosen({ componentId, configuration, key })
  const send = useSendAgain(place, configuration, key)
  if (source !== undefined && table.isPending) return <Lines />
  return (
    <>
      {componentId === 'platform.wr-http' ? (
        <Receipts place={place} configuration={configuration} jobs={jobs} canSend={refusal === undefined} send={send} />
      ) : null}
      <section className="card" aria-labelledby="again">
        <header>
          <h2 id="again">Send rows again</h2>
        </header>
        <div className="inset stack-3">
          {refusal === undefined ? <ByKey names={key} send={send} /> : <p className="mute">{refusal}</p>}
          {send.error ? <Problem error={send.error} /> : null}
        </div>
      </section>
    </>
  )
}

type Send = ReturnType<typeof useSendAgain>

/** A job with the settings of the configuration and these rows only. What the next run delivers stays as it was. */
function useSendAgain(
  { componentId, configurationId }: ConfigurationPlace,
  configuration: Configuration,
  key: readonly string[],
) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (rows: readonly ChosenRow[]) =>
      api.call('queue.create', {
        body: {
          ...{ component: componentId, config: configurationId, mode: 'run' },
          configData: { ...sendAgain({ componentId, configuration, key, rows }) },
        },
      }),
    onSuccess: async (job, rows) => {
      toast(`${plural(rows.length, 'row')} are sent again by job ${job.id}.`)
      await queries.invalidateQueries()
    },
  })
}

const MAX_KEYS = 1000

function ByKey({ names, send }: { names: readonly string[]; send: Send }) {
  const [text, setText] = useState('')
  const rows = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ key: names.length === 1 ? [line.trim()] : line.split(',').map((value) => value.trim()) }))
  const bad = rows.find(({ key }) => key.length !== names.length)
  const problem = bad
    ? `"${bad.key.join(', ')}" has ${bad.key.length} of ${names.length} values.`
    : rows.length > MAX_KEYS
      ? `At most ${MAX_KEYS} rows at once.`
      : undefined
  return (
    <>
      <div className="field">
        <Label htmlFor="again-keys">{`Values of ${names.join(', ')}, one row on each line`}</Label>
        <textarea
          id="again-keys"
          className="input mono"
          rows={3}
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder={names.length === 1 ? undefined : names.join(', ')}
        />
        {problem ? <p className="fine failed">{problem}</p> : null}
      </div>
      <div>
        <ActButton
          needs="queue.create"
          className="button"
          disabled={send.isPending || rows.length === 0 || problem !== undefined}
          onClick={() => send.mutate(rows, { onSuccess: () => setText('') })}
        >
          Send again
        </ActButton>
      </div>
    </>
  )
}

interface Receipt {
  readonly id: string
  readonly key: string
  readonly operation: string
  readonly status: string
  readonly httpStatus: string
  readonly message: string
  readonly attempts: string
  readonly sentAt: string
}

const SHOWN = 200

/** The newest receipt of each key, or those of rows that did not arrive. */
function receiptsQuery(tableId: string, isMissing: boolean): string {
  const at = tableId.lastIndexOf('.')
  const name = `"${tableId.slice(0, at)}"."${tableId.slice(at + 1)}"`
  return `select delivery || ' ' || seq, key, operation, status, http_status, message, attempts, sent_at
from (select *, row_number() over (partition by key order by sent_at desc, seq desc) as newest from ${name})
where newest = 1${isMissing ? " and status <> 'delivered'" : ''}
order by sent_at desc, seq desc limit ${SHOWN}`
}

function Receipts({
  place,
  configuration,
  jobs,
  canSend,
  send,
}: AgainProps & { readonly canSend: boolean; readonly send: Send }) {
  const [isMissing, setMissing] = useState(true)
  const { receiptsTable = 'receipts' } = configuration.parameters ?? {}
  const known = jobs.flatMap(tablesOf).find(({ id }) => id.endsWith(`.${receiptsTable || 'receipts'}`))?.id
  const tableId =
    known ?? `out.c-${place.componentId.replaceAll('.', '-')}-${place.configurationId}.${receiptsTable || 'receipts'}`
  const table = useLoad('tables.get', { path: { tableId } })
  // The table is loaded by each delivery, so its receipts are read again then.
  const sql = receiptsQuery(tableId, isMissing)
  const query = useLoad('sql.query', table.data ? { body: { sql } } : undefined, { again: () => 10_000 })
  return (
    <section className="card" aria-labelledby="receipts">
      <header>
        <h2 id="receipts">Receipts</h2>
        <fieldset className="segments small push" aria-label="Receipts">
          <button type="button" aria-pressed={isMissing} onClick={() => setMissing(true)}>
            Not delivered
          </button>
          <button type="button" aria-pressed={!isMissing} onClick={() => setMissing(false)}>
            All
          </button>
        </fieldset>
      </header>
      {table.error ? (
        <p className="inset mute">No receipts are stored yet.</p>
      ) : (
        <Loaded query={query} skeleton={<Lines />}>
          {(answer) => {
            const receipts = (answer as { readonly rows: readonly (readonly unknown[])[] }).rows.map(receiptOf) // described loosely
            return receipts.length === 0 ? (
              <p className="inset mute">{isMissing ? 'Every row arrived.' : 'No receipts.'}</p>
            ) : (
              <ReceiptList receipts={receipts} canSend={canSend} send={send} />
            )
          }}
        </Loaded>
      )}
    </section>
  )
}

function receiptOf(row: readonly unknown[]): Receipt {
  const [id = '', key = '', operation = '', status = '', httpStatus = '', message = '', attempts = '', sentAt = ''] = row.map(
    (value) => (value === null ? '' : String(value)),
  )
  return { id, key, operation, status, httpStatus, message, attempts, sentAt: `${sentAt.replace(' ', 'T')}Z` } // written in UTC
}

/** A key of several columns is written as a list. */
const chosen = ({ key, operation }: Receipt): ChosenRow => ({
  key: key.startsWith('[') ? (JSON.parse(key) as (string | null)[]).map((value) => value ?? '') : [key],
  operation,
})

interface ReceiptListProps {
  readonly receipts: readonly Receipt[]
  readonly canSend: boolean
  readonly send: Send
}

function ReceiptList({ receipts, canSend, send }: ReceiptListProps) {
  const selection = useSelection(receipts.map(({ id }) => id))
  const ticked = receipts.filter(({ id }) => selection.has(id))
  const missing = receipts.filter(({ status }) => status !== 'delivered')
  const again = (rows: readonly Receipt[]) => send.mutate(rows.map(chosen), { onSuccess: selection.clear })
  return (
    <>
      {canSend ? (
        <div className="toolbar">
          <ActButton
            needs="queue.create"
            className="button small"
            disabled={send.isPending || ticked.length === 0}
            onClick={() => again(ticked)}
          >
            {ticked.length === 0 ? 'Send again' : `Send ${plural(ticked.length, 'row')} again`}
          </ActButton>
          {missing.length > 0 ? (
            <ActButton needs="queue.create" className="button small" disabled={send.isPending} onClick={() => again(missing)}>
              {`Send ${plural(missing.length, 'row')} that did not arrive`}
            </ActButton>
          ) : null}
        </div>
      ) : null}
      <ListTable
        label="Receipts"
        columns={[{ hidden: 'Select' }, 'Key', 'Operation', 'Status', 'Answer', { num: 'Attempts' }, 'Sent']}
      >
        {receipts.map((receipt) => (
          <tr key={receipt.id}>
            <td>
              <input
                type="checkbox"
                aria-label={`Select ${receipt.key}`}
                checked={selection.has(receipt.id)}
                onChange={() => selection.toggle(receipt.id)}
              />
            </td>
            <td className="mono">{receipt.key}</td>
            <td>{receipt.operation}</td>
            <td>
              <Status status={STATUS[receipt.status] ?? receipt.status} text={receipt.status} />
            </td>
            <td className="what">
              {receipt.httpStatus}
              {receipt.message ? <div className="fine mute clip">{receipt.message}</div> : null}
            </td>
            <td className="numeric">{receipt.attempts}</td>
            <td className="nowrap">{moment(receipt.sentAt)}</td>
          </tr>
        ))}
      </ListTable>
      {receipts.length === SHOWN ? <p className="inset fine mute">The newest {SHOWN}; the table has all of them.</p> : null}
    </>
  )
}

const STATUS: Readonly<Record<string, string>> = { delivered: 'success', rejected: 'error', failed: 'error' }
