// One click for a BI tool: a token that reads chosen buckets, shown once with everything that the tool needs. It is revoked like every token.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import { useBucketIds } from '../../facts/storage-names.ts'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import './access.css'

type Connection = Answer<'sql.connection'>

export function BiAccess() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <ActButton needs="tokens.create" className="button" onClick={() => setOpen(true)}>
        Connect a BI tool
      </ActButton>
      {isOpen ? <BiDialog onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function BiDialog({ onClose }: { onClose: () => void }) {
  const connection = useLoad('sql.connection', {})
  return (
    <Dialog title="Connect a BI tool" onClose={onClose}>
      <Loaded query={connection}>
        {(found) =>
          found.port === null ? (
            <p className="inset">
              This stack has no PostgreSQL port. The operator starts it with <code>MILLRACE_SQL_PORT=5433</code>.
            </p>
          ) : (
            <NewReader connection={found} onClose={onClose} />
          )
        }
      </Loaded>
    </Dialog>
  )
}

/** So many are listed at a time. */
const MANY_BUCKETS = 50

function NewReader({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const queries = useQueryClient()
  const [filter, setFilter] = useState('')
  const found = useBucketIds(filter)
  const [isMany, setMany] = useState(false)
  if (!isMany && found.length >= MANY_BUCKETS) setMany(true)
  const [description, setDescription] = useState('BI tool')
  /** By hand; the others are chosen, unless there are too many to list. */
  const [ticks, setTicks] = useState<ReadonlyMap<string, boolean>>(new Map())
  const ids = [...new Set([...[...ticks.keys()].filter((id) => ticks.get(id)), ...found])]
  const chosen = ids.filter((id) => ticks.get(id) ?? !isMany)
  const create = useMutation({
    mutationFn: () =>
      api.call('tokens.create', {
        body: { description, bucketPermissions: Object.fromEntries(chosen.map((id) => [id, 'read'])) },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['tokens.list'] }),
  })
  if (create.data?.token) return <Shown connection={connection} password={create.data.token} onClose={onClose} />
  return (
    <Form onSubmit={() => create.mutate()}>
      <p className="soft">The tool reads the tables of these buckets over the PostgreSQL protocol, and can change nothing.</p>
      <div className="field">
        <Label htmlFor="reader">Name of the tool</Label>
        <input
          className="input"
          id="reader"
          required
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </div>
      <fieldset className="plain stack-2 token-scopes">
        <legend className="label">Buckets</legend>
        {isMany ? (
          <input
            className="input"
            type="search"
            aria-label="Filter buckets"
            placeholder="Filter buckets"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
        ) : null}
        {ids.map((id) => (
          <label key={id} className="token-scope">
            <span className="identifier clip">{id}</span>
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={(event) => setTicks(new Map([...ticks, [id, event.target.checked]]))}
            />
          </label>
        ))}
      </fieldset>
      {create.error ? <Problem error={create.error} /> : null}
      <button type="submit" className="button primary" disabled={create.isPending || chosen.length === 0}>
        Create read-only access
      </button>
    </Form>
  )
}

function Shown({ connection, password, onClose }: { connection: Connection; password: string; onClose: () => void }) {
  const rows: readonly (readonly [string, string])[] = [
    ['Host', connection.host],
    ['Port', String(connection.port)],
    ['Database', connection.database],
    ['User', 'reader'],
    ['Password', password],
  ]
  return (
    <div className="inset stack-4">
      <p className="body-text">
        Copy the password now: it is shown this once. Choose PostgreSQL in the tool
        {connection.isEncrypted ? ' with SSL required' : '; this port takes connections of its own machine only, without SSL'}.
        Revoke it in the list of tokens.
      </p>
      <dl className="pairs">
        {rows.map(([name, value]) => (
          <div key={name} className="contents">
            <dt>{name}</dt>
            <dd className="flex-row">
              <code className="mono grow wrap">{value}</code>
              <CopyButton text={value} />
            </dd>
          </div>
        ))}
      </dl>
      <button type="button" className="button primary" onClick={onClose}>
        I have it
      </button>
    </div>
  )
}
