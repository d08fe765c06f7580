// Streams: addresses that take records, and the tables they go to.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { StreamCreateSinkBody } from '../../../../client/src/operations.ts'
import { moment, plural } from '../../format.ts'
import { Cards } from '../../listing.tsx'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { api, branchName } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'

const inBranch = () => ({ branchId: branchName() })

interface Sink {
  readonly sinkId: string
  readonly name: string
  readonly disabled?: unknown
  readonly table?: { readonly tableId: string; readonly mapping?: { readonly columns?: readonly Column[] } }
  readonly statistics?: {
    readonly recordsCount: number
    readonly lastLoadedAt: string | null
    readonly lastError: string | null
  }
}

interface Source {
  readonly sourceId: string
  readonly name: string
  readonly type: string
  readonly description?: string
  readonly disabled?: unknown
  readonly http?: { readonly url: string }
  readonly otlp?: { readonly url: string }
  readonly sinks?: readonly Sink[]
}

type Column = StreamCreateSinkBody['table']['mapping']['columns'][number]

const useRefresh = () => {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: ['stream.aggregateSources'] })
}

export function StreamsScreen() {
  const query = useLoad('stream.aggregateSources', { path: inBranch(), query: {} })
  const sources = (query.data as { readonly sources?: readonly Source[] } | undefined)?.sources ?? [] // described loosely
  return (
    <Page
      title="Streams"
      crumbs={[{ name: 'Streams' }]}
      say={
        !query.data
          ? 'Streams'
          : sources.length === 0
            ? 'No address receives records yet.'
            : `${plural(sources.length, 'address', 'addresses')} receive records.`.replace(
                '1 address receive',
                '1 address receives',
              )
      }
      sub="A record is answered when it is on disk; from then on it arrives in every table once."
      actions={
        <CreateButton label="New stream" needs="stream.createSource">
          {(close) => <NewStream onClose={close} />}
        </CreateButton>
      }
    >
      <Cards
        label="Streams"
        query={query}
        count={sources.length}
        teach="A stream is an address for webhooks of other services, events of your own programs or telemetry. What is sent there becomes rows of a table."
      >
        {sources.map((source) => (
          <SourceCard key={source.sourceId} source={source} />
        ))}
      </Cards>
    </Page>
  )
}

function SourceCard({ source }: { source: Source }) {
  const refresh = useRefresh()
  const address = source.http?.url ?? source.otlp?.url ?? ''
  const path = { ...inBranch(), sourceId: source.sourceId }
  const isDisabled = Boolean(source.disabled)
  const act = useMutation({
    mutationFn: (what: 'enable' | 'disable') =>
      api.call(what === 'enable' ? 'stream.enableSource' : 'stream.disableSource', { path }),
    onSuccess: async (_, what) => {
      await refresh()
      toast(what === 'enable' ? 'It accepts records again.' : 'It refuses records now.')
    },
  })
  const rotate = async () => {
    await api.call('stream.rotateSecret', { path })
    await refresh()
    toast('It has a new address; the old one is revoked.')
  }
  const remove = async () => {
    await api.call('stream.deleteSource', { path })
    await refresh()
    toast('The stream is deleted, its tables are kept.')
  }
  const received = lastRecord(source)
  const [changing, setChanging] = useState<'source' | 'sink'>()
  return (
    <section className="card" aria-label={source.name}>
      <header className="wrap">
        <h2>{source.name}</h2>
        <span className="identifier">{source.sourceId}</span>
        {isDisabled ? <Status status="disabled" badge /> : <Status status="enabled" badge text="Receiving" />}
        <span className="push flex-row wrap">
          <ActButton
            needs="stream.disableSource"
            className="button small"
            onClick={() => act.mutate(isDisabled ? 'enable' : 'disable')}
          >
            {isDisabled ? 'Accept records' : 'Reject records'}
          </ActButton>
          <ActButton needs="stream.updateSource" className="button small" onClick={() => setChanging('source')}>
            Rename
          </ActButton>
          <ActButton needs="stream.createSink" className="button small" onClick={() => setChanging('sink')}>
            Add a table
          </ActButton>
          <ConfirmButton
            label="New address"
            name={source.name}
            needs="stream.rotateSecret"
            className="button small"
            effect={
              <p>Programs that send to the present address are refused within a second, until they use the new one. {received}</p>
            }
            act={rotate}
          />
          <ConfirmButton
            label="Delete"
            name={source.name}
            needs="stream.deleteSource"
            typed={source.name}
            effect={
              <>
                <p>Its address is closed for good: programs that send to it are refused. {received}</p>
                <p>The tables and their rows are kept: {tablesOf(source) || 'it has none'}.</p>
              </>
            }
            act={remove}
          />
        </span>
      </header>
      {act.error ? <Problem error={act.error} /> : null}
      {changing === 'source' ? <ChangeSource source={source} onClose={() => setChanging(undefined)} /> : null}
      {changing === 'sink' ? <SinkDialog sourceId={source.sourceId} onClose={() => setChanging(undefined)} /> : null}
      <div className="inset stack-3">
        {source.description ? <p className="soft">{source.description}</p> : null}
        <div className="flex-row wrap">
          <span className="fine mute">The secret is part of the address: anyone who has it can send.</span>
          <span className="push flex-row">
            <CopyButton text={address} label="Copy the address" />
            <CopyButton text={`curl '${address}' --json '{"id": 1}'`} label="curl" />
          </span>
        </div>
        <ul className="list">
          {(source.sinks ?? []).map((sink) => (
            <SinkItem key={sink.sinkId} sourceId={source.sourceId} sink={sink} />
          ))}
        </ul>
        <TryOut source={source} address={address} />
        <Batches source={source} />
      </div>
    </section>
  )
}

const tablesOf = ({ sinks = [] }: Source): string => sinks.flatMap(({ table }) => table?.tableId ?? []).join(', ')

/** Whether the address is in use, as far as the tables show. */
function lastRecord({ sinks = [] }: Source): string {
  const last = sinks
    .flatMap(({ statistics }) => statistics?.lastLoadedAt ?? [])
    .toSorted()
    .at(-1)
  return last === undefined ? 'It has not received a record yet.' : `Its last records were loaded ${moment(last)}.`
}

function SinkItem({ sourceId, sink }: { sourceId: string; sink: Sink }) {
  const { sinkId, name, table, statistics } = sink
  const refresh = useRefresh()
  const [isOpen, setOpen] = useState(false)
  const path = { ...inBranch(), sourceId }
  const remove = useMutation({
    mutationFn: () => api.call('stream.deleteSink', { path: { ...path, sinkId } }),
    onSuccess: async () => {
      await refresh()
      toast(
        `Records no longer go to ${name}; its rows are kept.`,
        table
          ? async () => {
              await api.call('stream.createSink', { path, body: sinkBody(table.tableId, table.mapping?.columns ?? []) })
              await refresh()
            }
          : undefined,
      )
    },
  })
  return (
    <li>
      <Icon name="table" />
      <div className="grow flex-row wrap">
        <div>
          {table ? (
            <Link className="clip" to="/storage/$tableId" params={{ tableId: table.tableId }}>
              {table.tableId}
            </Link>
          ) : (
            name
          )}
          <div className="mute fine clip">{(table?.mapping?.columns ?? []).map((column) => column.name).join(', ')}</div>
          {statistics?.lastError ? <div className="fine failed">{statistics.lastError}</div> : null}
        </div>
        <span className="push fine">{statistics ? loadedText(statistics) : null}</span>
        {table ? (
          <ActButton
            needs="stream.updateSink"
            className="button small ghost"
            aria-label={`Change ${table.tableId}`}
            onClick={() => setOpen(true)}
          >
            Change
          </ActButton>
        ) : null}
        <ActButton
          needs="stream.deleteSink"
          className="button small ghost"
          aria-label={`Remove ${table?.tableId ?? name}`}
          disabled={remove.isPending}
          onClick={() => remove.mutate()}
        >
          Remove
        </ActButton>
        {remove.error ? <Problem error={remove.error} /> : null}
      </div>
      {isOpen ? <SinkDialog sourceId={sourceId} sink={sink} onClose={() => setOpen(false)} /> : null}
    </li>
  )
}

const loadedText = ({ recordsCount, lastLoadedAt }: NonNullable<Sink['statistics']>): string =>
  lastLoadedAt === null ? 'No record loaded yet' : `${plural(recordsCount, 'record')} loaded, last ${moment(lastLoadedAt)}`

interface TriedTable {
  readonly tableId: string
  readonly rows?: readonly { readonly columns?: readonly { readonly name: string; readonly value: string }[] }[]
}

/** Shows what the tables would make of a body, or sends it to the address as any other program does. */
function TryOut({ source, address }: { source: Source; address: string }) {
  const [body, setBody] = useState('{"order": {"id": 7}}')
  const test = useMutation({
    mutationFn: () => {
      const value: unknown = JSON.parse(body)
      return api.call('stream.testSource', { path: { ...inBranch(), sourceId: source.sourceId }, body: value })
    },
  })
  const send = useMutation({
    mutationFn: async () => {
      const { pathname } = new URL(address)
      const answer = await fetch(pathname, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      if (!answer.ok) throw new Error(((await answer.json()) as { readonly error: string }).error)
    },
    onSuccess: () => toast('Accepted: the record is on disk, and is loaded with its batch.'),
  })
  const tables = (test.data as { readonly tables?: readonly TriedTable[] } | undefined)?.tables ?? [] // described loosely
  const error = test.error ?? send.error
  return (
    <details>
      <summary className="fine">Try a body</summary>
      <Form className="stack-3" onSubmit={() => test.mutate()}>
        <textarea
          className="input mono json-field"
          rows={4}
          aria-label="Body to try"
          spellCheck={false}
          value={body}
          onChange={(event) => setBody(event.target.value)}
        />
        <div className="flex-row wrap">
          <button type="submit" className="button small" disabled={test.isPending}>
            Show the rows it becomes
          </button>
          {source.http && !source.disabled ? (
            <button type="button" className="button small" disabled={send.isPending} onClick={() => send.mutate()}>
              Send it to the address
            </button>
          ) : null}
        </div>
        {error ? <Problem error={error} /> : null}
        {tables.flatMap(({ tableId, rows = [] }) =>
          rows.map((row) => (
            <dl key={tableId} className="pairs fine">
              {(row.columns ?? []).map(({ name, value }) => (
                <div key={name} className="contents">
                  <dt className="mono">{name}</dt>
                  <dd className="mono">{value}</dd>
                </div>
              ))}
            </dl>
          )),
        )}
      </Form>
    </details>
  )
}

interface Setting {
  readonly key: string
  readonly type: 'int' | 'string'
  readonly description: string
  readonly value: string | number
}

/** When accepted records are loaded; read on request. */
function Batches({ source }: { source: Source }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="fine">When batches are loaded</summary>
      {isOpen ? <BatchSettings sourceId={source.sourceId} /> : null}
    </details>
  )
}

function BatchSettings({ sourceId }: { sourceId: string }) {
  const path = { ...inBranch(), sourceId }
  const queries = useQueryClient()
  const query = useLoad('stream.getSettings', { path })
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const ids = useId()
  const save = useMutation({
    mutationFn: (settings: readonly Setting[]) =>
      api.call('stream.updateSettings', {
        path,
        body: {
          settings: settings
            .filter(({ key }) => typed[key] !== undefined)
            .map(({ key, type }) => ({ key, value: type === 'int' ? Number(typed[key]) : typed[key] })),
        },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['stream.getSettings'] })
      setTyped({})
      toast('Saved. It holds for the records from now on.')
    },
  })
  return (
    <Loaded query={query}>
      {(answer) => {
        const { settings } = answer as unknown as { readonly settings: readonly Setting[] } // described loosely
        return (
          <Form className="stack-3" onSubmit={() => save.mutate(settings)}>
            {settings.map(({ key, type, description, value }) => (
              <div key={key} className="field">
                <Label htmlFor={`${ids}${key}`}>{description}</Label>
                <input
                  className="input mono"
                  id={`${ids}${key}`}
                  type={type === 'int' ? 'number' : 'text'}
                  required
                  value={typed[key] ?? value}
                  onChange={(event) => setTyped({ ...typed, [key]: event.target.value })}
                />
              </div>
            ))}
            <button type="submit" className="button small" disabled={save.isPending || Object.keys(typed).length === 0}>
              Save
            </button>
            {save.error ? <Problem error={save.error} /> : null}
          </Form>
        )
      }}
    </Loaded>
  )
}

const columnOf = (name: string, kind: string): Column =>
  kind.startsWith('path:')
    ? { type: 'path', name, path: kind.slice(5), rawString: true }
    : { type: kind as 'uuid' | 'datetime' | 'body', name }

const BLANK_COLUMNS = [columnOf('id', 'uuid'), columnOf('received', 'datetime'), columnOf('body', 'body')]

const pathsOf = (columns: readonly Column[]): string => columns.flatMap(({ path }) => path ?? []).join(', ')

/** `before` with the parts of the body that are chosen now; columns of other kinds and of parts that stay are kept as they are. */
function columnsFor(paths: string, before: readonly Column[] = BLANK_COLUMNS): readonly Column[] {
  const wanted = paths
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const kept = before.filter(({ type, path }) => type !== 'path' || wanted.includes(path ?? ''))
  const added = wanted
    .filter((path) => !before.some((column) => column.path === path))
    .map((path) => columnOf(path.replace(/[^A-Za-z0-9_]+/g, '_'), `path:${path}`))
  const end = kept.findIndex(({ type }) => type === 'body')
  return end === -1 ? [...kept, ...added] : [...kept.slice(0, end), ...added, ...kept.slice(end)]
}

const sinkBody = (tableId: string, columns: readonly Column[]): StreamCreateSinkBody => ({
  name: tableId,
  type: 'table',
  table: { type: 'keboola', tableId, mapping: { columns } },
})

interface SinkFieldsProps {
  readonly table: string
  readonly paths: string
  readonly onTable: (table: string) => void
  readonly onPaths: (paths: string) => void
}

const SinkFields = ({ table, paths, onTable, onPaths }: SinkFieldsProps) => (
  <>
    <div className="field">
      <Label htmlFor="stream-table">Table</Label>
      <input className="input mono" id="stream-table" required value={table} onChange={(event) => onTable(event.target.value)} />
      <span className="hint">It is created with the first records: an id, the time, the parts below and the whole body.</span>
    </div>
    <div className="field">
      <Label htmlFor="stream-paths">Parts of the body as columns</Label>
      <input
        className="input mono"
        id="stream-paths"
        placeholder="order.id, order.customer.name"
        value={paths}
        onChange={(event) => onPaths(event.target.value)}
      />
    </div>
  </>
)

/** A new table of an address, or other columns of one that it has. */
function SinkDialog({ sourceId, sink, onClose }: { sourceId: string; sink?: Sink; onClose: () => void }) {
  const refresh = useRefresh()
  const before = sink?.table?.mapping?.columns
  const [table, setTable] = useState(sink?.table?.tableId ?? 'in.c-streams.records')
  const [paths, setPaths] = useState(before ? pathsOf(before) : '')
  const save = useMutation({
    mutationFn: async () => {
      const path = { ...inBranch(), sourceId }
      const body = sinkBody(table, columnsFor(paths, before))
      if (sink) await api.call('stream.updateSink', { path: { ...path, sinkId: sink.sinkId }, body })
      else await api.call('stream.createSink', { path, body })
    },
    onSuccess: async () => {
      await refresh()
      onClose()
      toast('Saved. It holds for the records from now on.')
    },
  })
  return (
    <Dialog title={sink ? `Change ${sink.name}` : 'Add a table'} onClose={onClose}>
      <Form onSubmit={() => save.mutate()}>
        <SinkFields table={table} paths={paths} onTable={setTable} onPaths={setPaths} />
        <DialogEnd error={save.error} isPending={save.isPending} onClose={onClose}>
          Save
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

function ChangeSource({ source, onClose }: { source: Source; onClose: () => void }) {
  const refresh = useRefresh()
  const [name, setName] = useState(source.name)
  const [description, setDescription] = useState(source.description ?? '')
  const save = useMutation({
    mutationFn: () =>
      api.call('stream.updateSource', {
        path: { ...inBranch(), sourceId: source.sourceId },
        body: { name, description },
      }),
    onSuccess: async () => {
      await refresh()
      onClose()
      toast('Saved.')
    },
  })
  return (
    <Dialog title="Change the stream" onClose={onClose}>
      <Form onSubmit={() => save.mutate()}>
        <div className="field">
          <Label htmlFor="source-name">Name</Label>
          <input className="input" id="source-name" required value={name} onChange={(event) => setName(event.target.value)} />
          <span className="hint">Its address stays the same.</span>
        </div>
        <div className="field">
          <Label htmlFor="source-description">Description</Label>
          <input
            className="input"
            id="source-description"
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        </div>
        <DialogEnd error={save.error} isPending={save.isPending} onClose={onClose}>
          Save
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

function NewStream({ onClose }: { onClose: () => void }) {
  const refresh = useRefresh()
  const [name, setName] = useState('')
  const [table, setTable] = useState('in.c-streams.records')
  const [paths, setPaths] = useState('')
  const create = useMutation({
    mutationFn: async () => {
      const task = await api.call('stream.createSource', { path: inBranch(), body: { name } })
      const sourceId = String(task.outputs.sourceId)
      await api.call('stream.createSink', { path: { ...inBranch(), sourceId }, body: sinkBody(table, columnsFor(paths)) })
    },
    onSuccess: async () => {
      await refresh()
      onClose()
      toast('The address accepts records now.')
    },
  })
  return (
    <Dialog title="New stream" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <div className="field">
          <Label htmlFor="stream-name">Name</Label>
          <input className="input" id="stream-name" required value={name} onChange={(event) => setName(event.target.value)} />
        </div>
        <SinkFields table={table} paths={paths} onTable={setTable} onPaths={setPaths} />
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Create the address
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
