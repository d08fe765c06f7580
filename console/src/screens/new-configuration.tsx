import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Dialog } from '../parts/drawer.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import { useKey } from '../use-key.ts'
import { useCatalogue } from './names.ts'

export function NewConfiguration() {
  const [isOpen, setOpen] = useState(false)
  useKey('n', 'New configuration', () => setOpen(true))
  return (
    <>
      <button type="button" className="btn pri" onClick={() => setOpen(true)}>
        <Icon name="plus" />
        <span>New configuration</span>
        <kbd>N</kbd>
      </button>
      {isOpen ? <Form onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function Form({ onClose }: { onClose: () => void }) {
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
      <form
        className="in form"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
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
        {create.error ? <Problem error={create.error} /> : null}
        <div className="row">
          <button type="button" className="btn push" onClick={onClose}>
            Close
          </button>
          <button type="submit" className="btn pri" disabled={create.isPending}>
            Make the configuration
          </button>
        </div>
      </form>
    </Dialog>
  )
}
