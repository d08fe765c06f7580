// Views of a table: columns, filter, order, widths and pinned columns under a name. Own ones are kept with the account, shared ones with
// the table. The address has the whole view, so opening one is going to an address.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Table } from '../../../../../client/src/operations.ts'
import { useProjectId } from '../../../facts/project.ts'
import { ActButton } from '../../../parts/act-button.tsx'
import { Drawer } from '../../../parts/drawer.tsx'
import { Field } from '../../../parts/field.tsx'
import { Form } from '../../../parts/form.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { usePreference } from '../../../preferences.ts'
import { useRefusal } from '../../../rights.ts'
import { api } from '../../../session.ts'
import { toast } from '../../../shell/toast.tsx'

/** Parameters of the address that make a view. */
const PARTS = ['column', 'op', 'value', 'and', 'q', 'sort', 'order', 'hide', 'pin', 'width'] as const

export type ViewSearch = Readonly<Partial<Record<(typeof PARTS)[number], string>>>

interface View {
  readonly name: string
  readonly search: ViewSearch
}

interface SharedView extends View {
  readonly metadataId: string
}

const KEY = 'millrace.view.'
const PROVIDER = 'user'

interface Metadata {
  readonly id: string
  readonly key: string
  readonly value: string
}

function sharedViews(table: Table): readonly SharedView[] {
  return ((table.metadata ?? []) as readonly Metadata[]).flatMap(({ id, key, value }) => {
    if (!key.startsWith(KEY)) return []
    try {
      const { name, search } = JSON.parse(value) as View // written below
      return typeof name === 'string' && typeof search === 'object' ? [{ name, search: viewOf(search), metadataId: id }] : []
    } catch {
      return [] // another program wrote it
    }
  })
}

const viewOf = (search: Readonly<Record<string, unknown>>): ViewSearch =>
  Object.fromEntries(
    PARTS.filter((part) => typeof search[part] === 'string' && search[part] !== '').map((part) => [part, search[part]]),
  )

const isSame = (one: ViewSearch, other: ViewSearch): boolean => PARTS.every((part) => one[part] === other[part])

interface ViewsProps {
  readonly table: Table
  readonly search: Readonly<Record<string, unknown>>
  /** Replaces the parts of the address that make a view. */
  readonly onOpen: (view: Readonly<Record<(typeof PARTS)[number], string>>) => void
}

export function TableViews({ table, search, onOpen }: ViewsProps) {
  const [isOpen, setOpen] = useState(false)
  const [own, setOwn] = usePreference<readonly View[]>(`views:${useProjectId()}:${table.id}`, [])
  const shared = sharedViews(table)
  const now = viewOf(search)
  const current = [...own, ...shared].find((view) => isSame(view.search, now))
  const open = (view: View) => {
    setOpen(false)
    onOpen(Object.fromEntries(PARTS.map((part) => [part, view.search[part] ?? ''])) as Record<(typeof PARTS)[number], string>)
  }
  return (
    <>
      <button type="button" className={`button small ${current ? '' : 'ghost'}`} onClick={() => setOpen(true)}>
        <Icon name="eye" />
        <span>{current ? `View: ${current.name}` : 'Views'}</span>
      </button>
      {isOpen ? (
        <Drawer title="Views" onClose={() => setOpen(false)}>
          <NewView table={table} now={now} own={own} setOwn={setOwn} shared={shared} />
          <Own views={own} setOwn={setOwn} current={current} onOpen={open} />
          <Shared table={table} views={shared} current={current} onOpen={open} />
        </Drawer>
      ) : null}
    </>
  )
}

const useMetadata = (table: Table) => {
  const queries = useQueryClient()
  const path = { tableId: table.id }
  return {
    share: async (view: View) => {
      const metadata = [{ key: `${KEY}${Date.now().toString(36)}`, value: JSON.stringify(view) }]
      await api.call('tables.setMetadata', { path, body: { provider: PROVIDER, metadata } })
      await queries.invalidateQueries({ queryKey: ['tables.get'] })
    },
    unshare: async (metadataId: string) => {
      await api.call('tables.deleteMetadata', { path: { ...path, metadataId } })
      await queries.invalidateQueries({ queryKey: ['tables.get'] })
    },
  }
}

interface NewViewProps {
  readonly table: Table
  readonly now: ViewSearch
  readonly own: readonly View[]
  readonly setOwn: (views: readonly View[]) => Promise<void>
  readonly shared: readonly SharedView[]
}

function NewView({ table, now, own, setOwn, shared }: NewViewProps) {
  const [name, setName] = useState('')
  const [isShared, setShared] = useState(false)
  const refusal = useRefusal('tables.setMetadata')
  const { share, unshare } = useMetadata(table)
  const view = { name: name.trim(), search: now }
  const replaced = isShared ? shared.find((one) => one.name === view.name) : own.find((one) => one.name === view.name)
  const save = useMutation({
    mutationFn: async () => {
      if (!isShared) return setOwn([...own.filter((one) => one.name !== view.name), view])
      await share(view)
      if (replaced) await unshare((replaced as SharedView).metadataId) // shared ones are looked through
    },
    onSuccess: () => {
      setName('')
      toast(`The view ${view.name} is saved.`)
    },
  })
  return (
    <Form className="form" onSubmit={() => save.mutate()}>
      <Field
        label="Save what is shown as a view"
        hint={replaced ? 'Replaces the view of this name.' : 'Its columns, filter, order, widths and pinned columns.'}
      >
        {(id) => (
          <input className="input" id={id} maxLength={100} value={name} onChange={({ target }) => setName(target.value)} />
        )}
      </Field>
      <label className="check-line" title={refusal}>
        <input
          type="checkbox"
          checked={isShared}
          disabled={refusal !== undefined}
          onChange={({ target }) => setShared(target.checked)}
        />
        Share it with everyone who sees the table
      </label>
      {save.error ? <Problem error={save.error} /> : null}
      <button type="submit" className="button" disabled={view.name === '' || save.isPending}>
        Save the view
      </button>
    </Form>
  )
}

const Line = ({ view, isCurrent, onOpen }: { view: View; isCurrent: boolean; onOpen: (view: View) => void }) => (
  <button type="button" className="link grow" aria-current={isCurrent ? 'true' : undefined} onClick={() => onOpen(view)}>
    {view.name}
  </button>
)

interface OwnProps {
  readonly views: readonly View[]
  readonly setOwn: (views: readonly View[]) => Promise<void>
  readonly current: View | undefined
  readonly onOpen: (view: View) => void
}

function Own({ views, setOwn, current, onOpen }: OwnProps) {
  const remove = useMutation({
    mutationFn: (view: View) => setOwn(views.filter((one) => one !== view)),
    onSuccess: (_, view) => toast(`The view ${view.name} is deleted.`, () => setOwn(views)),
  })
  if (views.length === 0) return null
  return (
    <section className="stack-2">
      <h3 className="heading">Yours</h3>
      <ul className="list">
        {views.map((view) => (
          <li key={view.name}>
            <Line view={view} isCurrent={view === current} onOpen={onOpen} />
            <button
              type="button"
              className="button small ghost"
              aria-label={`Delete the view ${view.name}`}
              onClick={() => remove.mutate(view)}
            >
              Delete
            </button>
          </li>
        ))}
      </ul>
      {remove.error ? <Problem error={remove.error} /> : null}
    </section>
  )
}

interface SharedProps {
  readonly table: Table
  readonly views: readonly SharedView[]
  readonly current: View | undefined
  readonly onOpen: (view: View) => void
}

function Shared({ table, views, current, onOpen }: SharedProps) {
  const { share, unshare } = useMetadata(table)
  const remove = useMutation({
    mutationFn: ({ metadataId }: SharedView) => unshare(metadataId),
    onSuccess: (_, { name, search }) => toast(`The view ${name} is deleted.`, () => share({ name, search })),
  })
  if (views.length === 0) return null
  return (
    <section className="stack-2">
      <h3 className="heading">Shared</h3>
      <ul className="list">
        {views.map((view) => (
          <li key={view.metadataId}>
            <Line view={view} isCurrent={view === current} onOpen={onOpen} />
            <ActButton
              needs="tables.deleteMetadata"
              className="button small ghost"
              aria-label={`Delete the view ${view.name}`}
              onClick={() => remove.mutate(view)}
            >
              Delete
            </ActButton>
          </li>
        ))}
      </ul>
      {remove.error ? <Problem error={remove.error} /> : null}
    </section>
  )
}
