// One proposal: what it changes and touches, what its rehearsal found, and the decision.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import type { Answer, OperationName } from '../../../../client/src/client.ts'
import { effectiveConfiguration } from '../../../../contract/effective-configuration.ts'
import { type Path, parsed, pathText } from '../../document/json-text.ts'
import { LazyTextDifference } from '../../editor/lazy.ts'
import { moment, plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { ProposalState } from './agents.tsx'

type Review = Answer<'proposals.get'>
type Change = Review['changes'][number]
type Rehearsal = Answer<'proposals.rehearsal'>

const route = getRouteApi('/proposals/$proposalId')
const POLL_MS = 1000

export function ProposalScreen() {
  const { proposalId } = route.useParams()
  const query = useLoad(
    'proposals.get',
    { path: { id: proposalId } },
    { again: ({ state }) => (['open', 'submitted', 'refused'].includes(state) ? 3 * POLL_MS : false) },
  )
  const title = query.data?.title ?? `Proposal ${proposalId}`
  return (
    <Page
      title={title}
      crumbs={[{ name: 'Agents', to: '/agents' }, { name: title }]}
      say={query.data ? sayOf(query.data) : title}
      sub={query.data?.description || undefined}
      actions={query.data ? <Decide review={query.data} /> : null}
    >
      <Loaded query={query}>{(review) => <Body review={review} />}</Loaded>
    </Page>
  )
}

function sayOf({ token, changes, storageChanges, state }: Review): string {
  if (changes.length + storageChanges.length === 0) return `${token.description}: ${state}.`
  const counts = [
    ...(changes.length > 0 ? [plural(changes.length, 'configuration')] : []),
    ...Map.groupBy(storageChanges, ({ kind }) => nameOfKind(kind))
      .entries()
      .map(([name, all]) => plural(all.length, name)),
  ]
  return `${token.description} changes ${counts.join(', ')}.`
}

const KINDS: Readonly<Record<string, string>> = {
  dataTest: 'data test',
  dataContract: 'data contract',
  table: 'table',
  tableMetadata: 'description',
}
const nameOfKind = (kind: string): string => KINDS[kind] ?? kind

function Body({ review }: { review: Review }) {
  return (
    <div className="columns">
      <div className="stack-4">
        {review.changes.map((change) => (
          <ChangeCard key={`${change.componentId} ${change.configurationId}`} change={change} branchId={review.branchId} />
        ))}
        {review.storageChanges.map((change) => (
          <StorageChangeCard key={`${change.kind} ${change.tableId} ${change.name}`} change={change} />
        ))}
        {review.changes.length + review.storageChanges.length === 0 ? (
          <p className="card inset mute">Nothing is left to compare.</p>
        ) : null}
        <RehearsalCard review={review} />
      </div>
      <Touches review={review} />
    </div>
  )
}

function useDecision(id: number) {
  const queries = useQueryClient()
  const refresh = () =>
    Promise.all(['proposals.get', 'proposals.list'].map((one) => queries.invalidateQueries({ queryKey: [one] })))
  return { path: { id: String(id) }, refresh }
}

function Decide({ review: { id, state, runs } }: { review: Review }) {
  const { path, refresh } = useDecision(id)
  const [isRefusing, setRefusing] = useState(false)
  if (state === 'accepted')
    return (
      <ConfirmButton
        label="Undo"
        name={`proposal ${id}`}
        needs="proposals.undo"
        className="button ghost"
        effect={<p>Everything that it changed goes back to what it was, as one. Tables keep their rows.</p>}
        act={async () => {
          await api.call('proposals.undo', { path })
          await refresh()
          toast('Undone.')
        }}
      />
    )
  if (state !== 'submitted') return null
  return (
    <>
      <ActButton needs="proposals.refuse" className="button ghost" onClick={() => setRefusing(true)}>
        Refuse
      </ActButton>
      {runs.length > 0 ? <AcceptButton id={id} label="Accept without running" runJobs={false} effect={APPLIED} /> : null}
      <AcceptButton
        id={id}
        label="Accept"
        runJobs
        effect={runs.length > 0 ? `${APPLIED} Then ${plural(runs.length, 'job')} start with your rights.` : APPLIED}
      />
      {isRefusing ? <RefuseDialog id={id} onClose={() => setRefusing(false)} /> : null}
    </>
  )
}

const APPLIED = 'All changes are applied to production as one. They can be undone with one click.'

function AcceptButton({ id, label, runJobs, effect }: { id: number; label: string; runJobs: boolean; effect: string }) {
  const { path, refresh } = useDecision(id)
  return (
    <ConfirmButton
      label={label}
      name={`proposal ${id}`}
      needs="proposals.accept"
      className={runJobs ? 'button primary' : 'button ghost'}
      effect={<p>{effect}</p>}
      act={async () => {
        await api.call('proposals.accept', { path, body: { runJobs } })
        await refresh()
        toast('Accepted.')
      }}
    />
  )
}

function RefuseDialog({ id, onClose }: { id: number; onClose: () => void }) {
  const { path, refresh } = useDecision(id)
  const [reason, setReason] = useState('')
  const refuse = useMutation({
    mutationFn: () => api.call('proposals.refuse', { path, body: { reason } }),
    onSuccess: async () => {
      await refresh()
      onClose()
      toast('Refused.')
    },
  })
  return (
    <Dialog title="Refuse the proposal" onClose={onClose}>
      <Form onSubmit={() => refuse.mutate()}>
        <div className="field">
          <Label htmlFor="refusal">Reason</Label>
          <input className="input" id="refusal" required value={reason} onChange={(event) => setReason(event.target.value)} />
          <span className="hint">The agent reads it and may propose something else.</span>
        </div>
        <DialogEnd error={refuse.error} isPending={refuse.isPending} onClose={onClose}>
          Refuse
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

const NEEDS_DIFF: OperationName = 'branchConfigurations.diff'

function ChangeCard({ change, branchId }: { change: Change; branchId: number }) {
  const [isEffective, setEffective] = useState(false)
  return (
    <section className="card" aria-label={`${change.kind} ${change.name}`}>
      <header className="wrap">
        <h2>{change.name}</h2>
        <span className="mute fine">
          {change.kind} · {change.componentId}
        </span>
        {change.isConflict ? <Status status="warning" badge text="Conflict" /> : null}
        {change.kind === 'deleted' ? null : (
          <ActButton needs={NEEDS_DIFF} className="button small ghost push" onClick={() => setEffective(!isEffective)}>
            {isEffective ? 'Differences' : 'Effective configuration'}
          </ActButton>
        )}
      </header>
      {isEffective ? <Effective change={change} branchId={branchId} /> : <Differences change={change} />}
    </section>
  )
}

function StorageChangeCard({ change }: { change: Review['storageChanges'][number] }) {
  const { kind, tableId, name, change: what, isConflict } = change
  return (
    <section className="card" aria-label={`${what} ${name}`}>
      <header className="wrap">
        <h2>{name}</h2>
        <span className="mute fine">
          {what} · {nameOfKind(kind)}
          {name === tableId ? '' : ` of ${tableId}`}
        </span>
        {isConflict ? <Status status="warning" badge text="Conflict" /> : null}
      </header>
      <Differences change={change} />
    </section>
  )
}

function Differences({ change: { name, differences } }: { change: Pick<Change, 'name' | 'differences'> }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div role="group" className="inset stack-4" aria-label={`Differences of ${name}`}>
      {differences.map(({ pointer, before, after, copiedFrom }) => (
        <div key={pointer} className="stack-2">
          <p className="identifier">
            {pathText(stepsOf(pointer)) || 'all of it'}{' '}
            {copiedFrom ? <Status status="warning" badge text={`Copied from data: ${copiedFrom}`} /> : null}
          </p>
          <DifferenceOf before={before} after={after} />
        </div>
      ))}
    </div>
  )
}

/** Steps of a JSON pointer; indexes are numbers. */
const stepsOf = (pointer: string): Path =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))

/** Texts of several lines line by line, such as SQL; other values as they are. */
function DifferenceOf({ before, after }: { before: string | null; after: string | null }) {
  const [old, young] = [parsed(before ?? ''), parsed(after ?? '')]
  if (typeof old === 'string' && typeof young === 'string' && `${old}${young}`.includes('\n'))
    return (
      <Suspense fallback={<Lines />}>
        <LazyTextDifference before={old} after={young} />
      </Suspense>
    )
  return (
    <pre className="code sunken wrap">
      {before === null ? null : <span className="line-removed diff-line">− {before}</span>}
      {after === null ? null : <span className="line-added diff-line">+ {after}</span>}
    </pre>
  )
}

/** The root and each row as they would run; secrets are ciphers. */
function Effective({ change: { componentId, configurationId }, branchId }: { change: Change; branchId: number }) {
  const query = useLoad('branchConfigurations.diff', { path: { branch: String(branchId), componentId, configurationId } })
  return (
    <Loaded query={query} skeleton={<Lines />}>
      {({ ours }) => {
        const root = JSON.stringify(ours.configuration)
        const { rows = [] } = ours as { rows?: readonly { name: string; configuration: unknown }[] } // answers have more members than their schema
        const parts =
          rows.length === 0
            ? [{ name: '', text: effectiveConfiguration(root).text }]
            : rows.map(({ name, configuration }) => ({
                name,
                text: effectiveConfiguration(root, JSON.stringify(configuration)).text,
              }))
        return (
          <div className="inset stack-2">
            {parts.map(({ name, text }) => (
              <div key={name}>
                {name ? <p className="medium">{name}</p> : null}
                <pre className="code">{JSON.stringify(JSON.parse(text), null, 2)}</pre>
              </div>
            ))}
          </div>
        )
      }}
    </Loaded>
  )
}

function Touches({ review }: { review: Review }) {
  const { runs, tables, schedules, runBy, destinations, hosts, costs, state, token, created, expires, refusal } = review
  return (
    <section className="card" aria-labelledby="touches">
      <header>
        <h2 id="touches">What it touches</h2>
        <ProposalState state={state} />
      </header>
      <div className="inset stack-2">
        <p className="fine mute">
          By {token.description}, {moment(created)}
          {expires === null ? '' : `, expires ${moment(expires)}`}
        </p>
        {refusal ? (
          <p>
            Refused by {refusal.by}: {refusal.reason}
          </p>
        ) : null}
        <Named
          title="Hosts"
          items={hosts.map(({ host, isNew }) => (isNew ? `${host}: NEW, no configuration of production names it` : host))}
        />
        <Named title="Tables" items={tables} />
        <Named
          title={state === 'accepted' ? 'Started' : 'Runs when accepted'}
          items={runs.map(({ componentId, configurationId, jobId, problem }) =>
            [
              `${configurationId} (${componentId})`,
              ...(jobId === null ? [] : [`job ${jobId}`]),
              ...(problem === null ? [] : [problem]),
            ].join(', '),
          )}
        />
        <Named title="Run by" items={runBy.map(({ name, componentId }) => `${name} (${componentId})`)} />
        <Named title="Destinations" items={destinations.map(({ name, componentId }) => `${name} (${componentId})`)} />
        <Named title="Schedules" items={schedules.map(({ cronTab }) => cronTab)} />
        <Named
          title="Cost so far"
          items={costs.map(
            ({ configurationId, usualMs, runs }) =>
              `${configurationId}: ${((usualMs ?? 0) / 1000).toFixed(1)} s usually (${plural(runs, 'run')})`,
          )}
        />
      </div>
    </section>
  )
}

const Named = ({ title, items }: { title: string; items: readonly string[] }) =>
  items.length === 0 ? null : (
    <div>
      <p className="medium">{title}</p>
      <ul className="list">
        {items.map((item) => (
          <li key={item}>
            {item.includes(': NEW') ? <Icon name="st-warn" /> : null}
            <span className="identifier">{item}</span>
          </li>
        ))}
      </ul>
    </div>
  )

function RehearsalCard({ review: { id, state } }: { review: Review }) {
  const path = { id: String(id) }
  const queries = useQueryClient()
  const query = useLoad('proposals.rehearsal', { path }, { again: (found) => (found.state === 'running' ? POLL_MS : false) })
  const start = useMutation({
    mutationFn: () => api.call('proposals.rehearse', { path }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['proposals.rehearsal'] }),
  })
  const isOpen = ['open', 'submitted', 'refused'].includes(state)
  return (
    <section className="card" aria-labelledby="rehearsal">
      <header className="wrap">
        <h2 id="rehearsal">Rehearsal</h2>
        {isOpen ? (
          <ActButton
            needs="proposals.rehearse"
            className="button small push"
            disabled={start.isPending || query.data?.state === 'running'}
            onClick={() => start.mutate()}
          >
            Rehearse
          </ActButton>
        ) : null}
      </header>
      {start.error ? <Problem error={start.error} /> : null}
      {query.data?.state === 'none' ? (
        <p className="inset mute">
          Not rehearsed yet. A rehearsal runs the change offline and compares the rows of every table behind it.
        </p>
      ) : (
        <Loaded query={query}>{(found) => <Found found={found} />}</Loaded>
      )}
    </section>
  )
}

function Found({ found }: { found: Rehearsal }) {
  return (
    <div className="stack-2">
      <p className="inset medium" role="status">
        {found.summary}
        {found.isCurrent ? '' : ' The proposal has changed since.'}
      </p>
      {found.steps.some(({ error }) => error !== null) || found.notRun.length > 0 ? (
        <ul className="list" aria-label="Not rehearsed">
          {found.steps
            .filter(({ error }) => error !== null)
            .map(({ jobId, configurationId, error }) => (
              <li key={jobId}>
                <Icon name="st-err" />
                <Link to="/jobs/$jobId" params={{ jobId }}>
                  {configurationId}
                </Link>
                <span className="said">{error}</span>
              </li>
            ))}
          {found.notRun.map(({ componentId, configurationId, reason }) => (
            <li key={`${componentId} ${configurationId}`}>
              <span className="identifier">{configurationId}</span>
              <span className="said">{reason}</span>
            </li>
          ))}
        </ul>
      ) : null}
      {found.tables.map((table) => (
        <RowsOfTable key={table.id} table={table} />
      ))}
      {found.deliveries.map(({ componentId, configurationId, rows }) => (
        <p key={configurationId} className="inset fine">
          Would be sent by {componentId} {configurationId}: {plural(rows, 'row')} that differ. Nothing was sent.
        </p>
      ))}
    </div>
  )
}

function RowsOfTable({ table }: { table: Rehearsal['tables'][number] }) {
  const { id, added, removed, changed, addedColumns, removedColumns, columns, samples, problem } = table
  const counts = [`${added} added`, `${removed} removed`, `${changed} changed`].join(', ')
  const others = [...addedColumns.map((name) => `new column ${name}`), ...removedColumns.map((name) => `column ${name} goes`)]
  return (
    <div>
      <p className="inset">
        <span className="identifier medium">{id}</span> <span className="mute">{problem ?? [counts, ...others].join(', ')}</span>
      </p>
      {samples.length === 0 ? null : (
        <ListTable label={`Rows of ${id}`} columns={[{ hidden: 'Change' }, ...columns]}>
          {samples.flatMap(({ kind, before, after }) =>
            [['production', before] as const, ['proposed', after] as const].flatMap(([side, values]) =>
              values === null
                ? []
                : [
                    <tr key={`${kind} ${side} ${String(values)}`}>
                      <td className="mute nowrap">
                        {kind}, {side}
                      </td>
                      {values.map((value, column) => (
                        <td key={columns[column]} className="identifier said">
                          {value ?? 'null'}
                        </td>
                      ))}
                    </tr>,
                  ],
            ),
          )}
        </ListTable>
      )}
    </div>
  )
}
