// Saves a query for the project: a new one with a name, or the next version of the one it was opened from.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SavedQueriesCreateBody } from '../../../../client/src/operations.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { originOf } from './sql-library.tsx'
import type { Parameters } from './sql-parameters.tsx'
import type { OpenTabs } from './sql-tabs.tsx'

interface StoreProps {
  readonly tabs: OpenTabs
  readonly parameters: Parameters
}

/** The values of now are what a reader starts with. */
const declared = ({ names, of }: Parameters): NonNullable<SavedQueriesCreateBody['parameters']> =>
  names.map((name) => {
    const { type, value } = of(name)
    return value === '' && type !== 'text' ? { name, type } : { name, type, default: value }
  })

export function StoreButtons({ tabs, parameters }: StoreProps) {
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const { sql, saved } = tabs
  const save = useMutation({
    mutationFn: async ({ id, version }: NonNullable<OpenTabs['saved']>) => {
      const body = { sql, parameters: declared(parameters), version }
      const changed = await api.call('savedQueries.update', { path: { queryId: id }, body })
      tabs.mark(originOf(changed))
      await queries.invalidateQueries({ queryKey: ['savedQueries.list'] })
      await queries.invalidateQueries({ queryKey: ['savedQueries.versions'] })
      toast(`Saved as version ${changed.version} of ${changed.name}.`)
    },
  })
  return (
    <>
      {saved ? (
        <ActButton
          needs="savedQueries.update"
          className="button small"
          disabled={saved.sql === sql || save.isPending}
          onClick={() => save.mutate(saved)}
        >
          Save
        </ActButton>
      ) : null}
      <ActButton needs="savedQueries.create" className="button small" disabled={sql.trim() === ''} onClick={() => setOpen(true)}>
        {saved ? 'Save as new' : 'Save the query'}
      </ActButton>
      {save.error ? <Problem error={save.error} /> : null}
      {isOpen ? <NewSaved tabs={tabs} parameters={parameters} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function NewSaved({ tabs, parameters, onClose }: StoreProps & { readonly onClose: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const create = useMutation({
    mutationFn: () =>
      api.call('savedQueries.create', { body: { name, description, sql: tabs.sql, parameters: declared(parameters) } }),
    onSuccess: async (made) => {
      tabs.mark(originOf(made))
      await queries.invalidateQueries({ queryKey: ['savedQueries.list'] })
      toast(`${made.name} is saved for everyone in the project.`)
      onClose()
    },
  })
  return (
    <Dialog title="Save the query" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <Field label="Name" hint="Everyone in the project sees it.">
          {(id) => (
            <input
              className="input"
              id={id}
              required
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field label="Description">
          {(id) => (
            <textarea className="input" id={id} value={description} onChange={(event) => setDescription(event.target.value)} />
          )}
        </Field>
        {parameters.names.length > 0 ? (
          <p className="fine soft">
            <Icon name="info" size="small" /> Its parameters are {parameters.names.join(', ')}, with the values of now as
            defaults.
          </p>
        ) : null}
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Save for the project
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
