import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { CreateButton } from '../parts/create-button.tsx'
import { DialogEnd } from '../parts/dialog-end.tsx'
import { Dialog } from '../parts/drawer.tsx'
import { Form } from '../parts/form.tsx'
import { api } from '../session.ts'
import { useCatalogue } from './names.ts'

export const NewConfiguration = () => (
  <CreateButton label="New configuration">{(close) => <NewConfigurationDialog onClose={close} />}</CreateButton>
)

function NewConfigurationDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const choices = useCatalogue().filter((component) => component.hasRun && component.type !== 'processor')
  const [componentId, setComponentId] = useState('')
  const [name, setName] = useState('')
  const chosen = componentId || choices[0]?.id || ''
  const create = useMutation({
    mutationFn: () => api.call('configurations.create', { path: { componentId: chosen }, body: { name } as never }),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ['components.list'] })
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
          <label htmlFor="component">Component</label>
          <select className="input" id="component" value={chosen} onChange={(event) => setComponentId(event.target.value)}>
            {choices.map((component) => (
              <option key={component.id} value={component.id}>
                {component.name}
              </option>
            ))}
          </select>
          <span className="hint">{choices.find((component) => component.id === chosen)?.description}</span>
        </div>
        <div className="field">
          <label htmlFor="name">Name</label>
          <input className="input" id="name" required value={name} onChange={(event) => setName(event.target.value)} />
        </div>
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Make the configuration
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
