import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useCatalogue } from '../../facts/names.ts'
import { CreateButton } from '../../parts/create-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { api } from '../../session.ts'
import { refreshEntries } from './configuration-list.tsx'

export const NewConfiguration = () => (
  <CreateButton label="New configuration" needs="configurations.create">
    {(close) => <NewConfigurationDialog onClose={close} />}
  </CreateButton>
)

/** `component` is the one that was chosen already. */
export function NewConfigurationDialog({ component = '', onClose }: { component?: string; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const choices = useCatalogue().filter((one) => one.hasRun && one.type !== 'processor')
  const [componentId, setComponentId] = useState(component)
  const [name, setName] = useState('')
  const chosen = componentId || choices[0]?.id || ''
  const create = useMutation({
    mutationFn: () => api.call('configurations.create', { path: { componentId: chosen }, body: { name } }),
    onSuccess: async (made) => {
      await refreshEntries(queries)
      onClose()
      void navigate({
        to: '/components/$componentId/$configurationId',
        params: { componentId: chosen, configurationId: made.id },
      })
    },
  })
  return (
    <Dialog title="New configuration" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <div className="field">
          <Label htmlFor="component">Component</Label>
          <select className="input" id="component" value={chosen} onChange={(event) => setComponentId(event.target.value)}>
            {choices.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
          <span className="hint">{choices.find((one) => one.id === chosen)?.description}</span>
        </div>
        <div className="field">
          <Label htmlFor="name">Name</Label>
          <input className="input" id="name" required value={name} onChange={(event) => setName(event.target.value)} />
        </div>
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Create the configuration
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
