// Streams: addresses that take records, and the tables they go to.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { StreamCreateSinkBody } from '../../../client/src/operations.ts'
import { plural } from '../format.ts'
import { Cards } from '../listing.tsx'
import { useLoad } from '../load.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { CreateButton } from '../parts/create-button.tsx'
import { DialogEnd } from '../parts/dialog-end.tsx'
import { Dialog } from '../parts/drawer.tsx'
import { Form } from '../parts/form.tsx'
import { Label } from '../parts/guide.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { Status } from '../parts/status.tsx'
import { api, branchName } from '../session.ts'
import { Page } from '../shell/page.tsx'
import { toast } from '../shell/toast.tsx'

const inBranch = () => ({ branchId: branchName() })

interface Sink {
  readonly sinkId: string
  readonly name: string
  readonly disabled?: unknown
  readonly table?: { readonly tableId: string; readonly mapping?: { readonly columns?: readonly { readonly name: string }[] } }
}

interface Source {
  readonly sourceId: string
  readonly name: string
  readonly type: string
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
            ? 'No address takes records yet.'
            : `${plural(sources.length, 'address', 'addresses')} take records.`.replace('1 address take', '1 address takes')
      }
      sub="A record is answered when it is on disk; from then on it arrives in every table once."
      actions={<CreateButton label="New stream">{(close) => <NewStream onClose={close} />}</CreateButton>}
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
    mutationFn: async (what: 'enable' | 'disable' | 'rotate' | 'delete'): Promise<string> => {
      if (what === 'rotate') await api.call('stream.rotateSecret', { path })
      else if (what === 'delete') await api.call('stream.deleteSource', { path })
      else await api.call(what === 'enable' ? 'stream.enableSource' : 'stream.disableSource', { path })
      return {
        enable: 'It takes records again.',
        disable: 'It refuses records now.',
        rotate: 'It has a new address; the old one has ended.',
        delete: 'The stream is gone, its tables stay.',
      }[what]
    },
    onSuccess: async (said) => {
      await refresh()
      toast(said)
    },
  })
  return (
    <section className="card" aria-label={source.name}>
      <header className="wrap">
        <h2>{source.name}</h2>
        <span className="id">{source.sourceId}</span>
        {isDisabled ? <Status status="disabled" badge /> : <Status status="enabled" badge text="Takes records" />}
        <span className="push row wrap">
          <button type="button" className="btn sm" onClick={() => act.mutate(isDisabled ? 'enable' : 'disable')}>
            {isDisabled ? 'Take records again' : 'Refuse records'}
          </button>
          <button type="button" className="btn sm" onClick={() => act.mutate('rotate')}>
            New address
          </button>
          <button type="button" className="btn sm ghost" onClick={() => act.mutate('delete')}>
            Delete
          </button>
        </span>
      </header>
      {act.error ? <Problem error={act.error} /> : null}
      <div className="in stack3">
        <div className="row wrap">
          <span className="xs mute">The secret is part of the address: whoever knows it can send.</span>
          <span className="push row">
            <CopyButton text={address} label="Copy the address" />
            <CopyButton text={`curl '${address}' --json '{"id": 1}'`} label="curl" />
          </span>
        </div>
        <ul className="list">
          {(source.sinks ?? []).map((sink) => (
            <li key={sink.sinkId}>
              <Icon name="table" />
              {sink.table ? (
                <Link className="clip" to="/storage/$tableId" params={{ tableId: sink.table.tableId }}>
                  {sink.table.tableId}
                </Link>
              ) : (
                sink.name
              )}
              <span className="push mute xs">{(sink.table?.mapping?.columns ?? []).map(({ name }) => name).join(', ')}</span>
            </li>
          ))}
        </ul>
        <TryOut source={source} />
      </div>
    </section>
  )
}

/** Shows what the tables would make of a body; nothing is stored. */
function TryOut({ source }: { source: Source }) {
  const [body, setBody] = useState('{"order": {"id": 7}}')
  const test = useMutation({
    mutationFn: () => {
      const value: unknown = JSON.parse(body)
      return api.call('stream.testSource', { path: { ...inBranch(), sourceId: source.sourceId }, body: value as never })
    },
  })
  const tables =
    (
      test.data as
        | {
            readonly tables?: readonly {
              readonly tableId: string
              readonly rows?: readonly { readonly columns?: readonly { readonly name: string; readonly value: string }[] }[]
            }[]
          }
        | undefined
    )?.tables ?? []
  return (
    <details>
      <summary className="xs">Try a body</summary>
      <Form className="stack3" onSubmit={() => test.mutate()}>
        <textarea
          className="input mono json-field"
          rows={4}
          aria-label="Body to try"
          spellCheck={false}
          value={body}
          onChange={(event) => setBody(event.target.value)}
        />
        <button type="submit" className="btn sm" disabled={test.isPending}>
          Show the rows it becomes
        </button>
        {test.error ? <Problem error={test.error} /> : null}
        {tables.flatMap(({ tableId, rows = [] }) =>
          rows.map((row) => (
            <dl key={tableId} className="kv xs">
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

const columnOf = (name: string, kind: string): Column =>
  kind.startsWith('path:')
    ? { type: 'path', name, path: kind.slice(5), rawString: true }
    : { type: kind as 'uuid' | 'datetime' | 'body', name }

function NewStream({ onClose }: { onClose: () => void }) {
  const refresh = useRefresh()
  const [name, setName] = useState('')
  const [table, setTable] = useState('in.c-streams.records')
  const [paths, setPaths] = useState('')
  const create = useMutation({
    mutationFn: async () => {
      const task = await api.call('stream.createSource', { path: inBranch(), body: { name } })
      const sourceId = String(task.outputs.sourceId)
      const picked = paths
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
      const columns = [
        columnOf('id', 'uuid'),
        columnOf('received', 'datetime'),
        ...picked.map((path) => columnOf(path.replace(/[^A-Za-z0-9_]+/g, '_'), `path:${path}`)),
        columnOf('body', 'body'),
      ]
      await api.call('stream.createSink', {
        path: { ...inBranch(), sourceId },
        body: { name: table, type: 'table', table: { type: 'keboola', tableId: table, mapping: { columns } } },
      })
    },
    onSuccess: async () => {
      await refresh()
      onClose()
      toast('The address takes records now.')
    },
  })
  return (
    <Dialog title="New stream" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <div className="field">
          <Label htmlFor="stream-name">Name</Label>
          <input className="input" id="stream-name" required value={name} onChange={(event) => setName(event.target.value)} />
        </div>
        <div className="field">
          <Label htmlFor="stream-table">Table</Label>
          <input
            className="input mono"
            id="stream-table"
            required
            value={table}
            onChange={(event) => setTable(event.target.value)}
          />
          <span className="hint">It is made with the first records: an id, the time, the parts below and the whole body.</span>
        </div>
        <div className="field">
          <Label htmlFor="stream-paths">Parts of the body as columns</Label>
          <input
            className="input mono"
            id="stream-paths"
            placeholder="order.id, order.customer.name"
            value={paths}
            onChange={(event) => setPaths(event.target.value)}
          />
        </div>
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Make the address
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
