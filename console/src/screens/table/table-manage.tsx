// A table as a whole: its name and description, emptied, deleted. Each change describes what it does, and is undone where it can be.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { Table } from '../../../../client/src/operations.ts'
import { finishStorageJob } from '../../facts/storage-job.ts'
import { bucketOf } from '../../facts/table-id.ts'
import { plural } from '../../format.ts'
import { useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { DeletionEffect } from '../../views/deletion-effect.tsx'
import { AliasShows, TableAliases } from './alias/table-aliases.tsx'

interface Metadata {
  readonly key: string
  readonly value: string
}

const OWNER = 'millrace.owner'

const metadataOf = (table: Table, wanted: string): string =>
  ((table.metadata ?? []) as readonly Metadata[]).findLast(({ key }) => key === wanted)?.value ?? ''

export const descriptionOf = (table: Table): string => metadataOf(table, 'KBC.description')
/** Whom to ask about the table: an e-mail address, or empty. */
export const ownerOf = (table: Table): string => metadataOf(table, OWNER)

export const TableManage = ({ table }: { table: Table }) => (
  <div className="columns">
    <Described key={`${table.displayName} ${descriptionOf(table)} ${ownerOf(table)}`} table={table} />
    <div className="stack-4">
      {table.isAlias ? <AliasShows table={table} /> : <Empty table={table} />}
      <TableAliases table={table} />
      <Delete table={table} />
    </div>
  </div>
)

interface Named {
  readonly displayName: string
  readonly description: string
  readonly owner: string
}

function Described({ table }: { table: Table }) {
  const queries = useQueryClient()
  const ids = [useId(), useId(), useId()] as const
  const before: Named = { displayName: table.displayName, description: descriptionOf(table), owner: ownerOf(table) }
  const [named, setNamed] = useState(before)
  const write = async (from: Named, { owner, displayName, description }: Named) => {
    const path = { tableId: table.id }
    if (from.displayName !== displayName || from.description !== description) {
      const body = { displayName, description: description === '' ? null : description }
      await finishStorageJob(await api.call('tables.changeDefinition', { path, body }))
    }
    if (from.owner !== owner)
      await api.call('tables.setMetadata', { path, body: { provider: 'user', metadata: [{ key: OWNER, value: owner }] } })
    await queries.invalidateQueries()
  }
  const save = useMutation({
    mutationFn: () => write(before, named).then(() => before), // of now: when it is done, this is drawn with what was saved
    onSuccess: (was) => toast('Saved.', () => write(named, was)),
  })
  const isSame = Object.entries(before).every(([key, value]) => named[key as keyof Named] === value)
  return (
    <section className="card" aria-labelledby="described">
      <header>
        <h2 id="described">Name, description and owner</h2>
      </header>
      <Form onSubmit={() => save.mutate()}>
        <div className="field">
          <Label htmlFor={ids[0]}>Name</Label>
          <input
            className="input"
            id={ids[0]}
            required
            value={named.displayName}
            onChange={(event) => setNamed({ ...named, displayName: event.target.value })}
          />
          <span className="hint">For people. Configurations and SQL go on using the id, which cannot change.</span>
        </div>
        <div className="field">
          <Label htmlFor={ids[1]}>Description</Label>
          <textarea
            className="input"
            id={ids[1]}
            rows={4}
            value={named.description}
            onChange={(event) => setNamed({ ...named, description: event.target.value })}
          />
        </div>
        <div className="field">
          <Label htmlFor={ids[2]}>Owner</Label>
          <input
            className="input"
            id={ids[2]}
            type="email"
            placeholder="e-mail of a person"
            value={named.owner}
            onChange={(event) => setNamed({ ...named, owner: event.target.value.trim() })}
          />
          <span className="hint">Whom to ask. It gives no rights.</span>
        </div>
        {save.error ? <Problem error={save.error} /> : null}
        <ActButton type="submit" needs="tables.changeDefinition" className="button" disabled={save.isPending || isSame}>
          Save
        </ActButton>
      </Form>
    </section>
  )
}

/** The state before is a moment like any other, so the rows can come back. */
function Empty({ table }: { table: Table }) {
  const queries = useQueryClient()
  const path = { tableId: table.id }
  const empty = useMutation({
    mutationFn: async () => {
      const timestamp = new Date().toISOString()
      await finishStorageJob(await api.call('tables.deleteRows', { path, query: { allowTruncate: true } }))
      await queries.invalidateQueries()
      return timestamp
    },
    onSuccess: (timestamp) =>
      toast('The table is empty.', async () => {
        await finishStorageJob(await api.call('tables.restore', { path, body: { timestamp } }))
        await queries.invalidateQueries()
      }),
  })
  return (
    <section className="card" aria-labelledby="empty-table">
      <header>
        <h2 id="empty-table">Empty the table</h2>
      </header>
      <div className="inset stack-3">
        <p className="soft">
          Deletes {table.rowsCount === null ? 'all rows' : plural(table.rowsCount, 'row')} and keeps columns, key and description.
          The rows can be put back for some days, here and in the time travel of the snapshots.
        </p>
        {empty.error ? <Problem error={empty.error} /> : null}
        <div className="flex-row">
          <ActButton
            needs="tables.deleteRows"
            className="button danger"
            disabled={empty.isPending || table.rowsCount === 0}
            onClick={() => empty.mutate()}
          >
            Empty the table
          </ActButton>
        </div>
      </div>
    </section>
  )
}

function Delete({ table }: { table: Table }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = async () => {
    await finishStorageJob(
      (await api.call('tables.delete', { path: { tableId: table.id }, query: { force: true, async: true } })) as unknown, // a job
    )
    await navigate({ to: '/buckets/$bucketId', params: { bucketId: bucketOf(table.id) } })
    queries.removeQueries({ queryKey: ['tables.get'] })
    await queries.invalidateQueries()
    toast(`${table.id} is deleted.`)
  }
  return (
    <section className="card" aria-labelledby="delete-table">
      <header>
        <h2 id="delete-table">Delete the table</h2>
      </header>
      <div className="inset stack-3">
        <p className="soft">
          {table.isAlias
            ? 'Deletes the alias; the table that it shows is kept.'
            : 'Deletes the rows, their earlier states and the aliases. Snapshots of the table are kept.'}
        </p>
        <div className="flex-row">
          <ConfirmButton
            label="Delete the table"
            name={table.id}
            needs="tables.delete"
            className="button danger"
            {...(table.isAlias ? {} : { typed: table.name })}
            effect={<Planned tableId={table.id} />}
            act={remove}
          />
        </div>
      </div>
    </section>
  )
}

function Planned({ tableId }: { tableId: string }) {
  const query = useLoad('tables.delete', { path: { tableId }, query: { force: true, dryRun: true } })
  return <DeletionEffect query={query} />
}
