// A configuration as a thing: its name, description and whether jobs run it; copied; deleted, which can be undone.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { Configuration } from '../../../client/src/operations.ts'
import { NAME_QUERY } from '../facts/name-batches.ts'
import { FLOW_COMPONENTS } from '../facts/names.ts'
import type { ConfigurationPlace } from '../facts/use-configuration.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Drawer } from '../parts/drawer.tsx'
import { Form } from '../parts/form.tsx'
import { Label } from '../parts/guide.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import { toast } from '../shell/toast.tsx'

interface SettingsProps {
  readonly place: ConfigurationPlace
  readonly configuration: Configuration
}

export function SettingsButton(props: SettingsProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        <Icon name="gear" />
        <span>Settings</span>
      </button>
      {isOpen ? (
        <Drawer title="Settings" onClose={() => setOpen(false)}>
          <Described {...props} onDone={() => setOpen(false)} />
          <Copy {...props} />
          <Delete {...props} />
        </Drawer>
      ) : null}
    </>
  )
}

function useRefresh() {
  const queries = useQueryClient()
  return () =>
    Promise.all(
      [NAME_QUERY, 'configurations.browse', 'configurations.get', 'configurations.versions'].map((name) =>
        queries.invalidateQueries({ queryKey: [name] }),
      ),
    )
}

interface Named {
  readonly name: string
  readonly description: string
  readonly isDisabled: boolean
}

function Described({ place, configuration, onDone }: SettingsProps & { onDone: () => void }) {
  const refresh = useRefresh()
  const ids = [useId(), useId()] as const
  const { name, description, isDisabled = false } = configuration
  const before: Named = { name, description, isDisabled }
  const [named, setNamed] = useState(before)
  const write = async (wanted: Named) => {
    await api.call('configurations.update', { path: place, body: { ...wanted, changeDescription: 'Settings changed' } })
    await refresh()
  }
  const save = useMutation({
    mutationFn: () => write(named).then(() => before), // of now: when it is done, this is drawn with what was saved
    onSuccess: (was) => {
      onDone()
      toast('Saved.', () => write(was))
    },
  })
  const isSame = named.name === name && named.description === description && named.isDisabled === isDisabled
  return (
    <Form className="form" onSubmit={() => save.mutate()}>
      <div className="field">
        <Label htmlFor={ids[0]}>Name</Label>
        <input
          className="input"
          id={ids[0]}
          required
          value={named.name}
          onChange={(event) => setNamed({ ...named, name: event.target.value })}
        />
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
      <label className="check-line">
        <input
          type="checkbox"
          checked={named.isDisabled}
          onChange={(event) => setNamed({ ...named, isDisabled: event.target.checked })}
        />
        Disabled: flows and schedules leave it out
      </label>
      {save.error ? <Problem error={save.error} /> : null}
      <ActButton type="submit" needs="configurations.update" className="button primary" disabled={save.isPending || isSame}>
        Save the settings
      </ActButton>
    </Form>
  )
}

/** Where a configuration is opened: flows have a screen of their own. */
const addressOf = ({ componentId }: ConfigurationPlace) =>
  FLOW_COMPONENTS.includes(componentId)
    ? ('/flows/$componentId/$configurationId' as const)
    : ('/components/$componentId/$configurationId' as const)

function Copy({ place, configuration }: SettingsProps) {
  const refresh = useRefresh()
  const navigate = useNavigate()
  const id = useId()
  const [name, setName] = useState(`${configuration.name}, copy`)
  const copy = useMutation({
    mutationFn: () =>
      api.call('configurations.copy', { path: { ...place, versionId: String(configuration.version) }, body: { name } }),
    onSuccess: async (made) => {
      await refresh()
      toast(`Created ${name}, with all rows.`)
      await navigate({ to: addressOf(place), params: { ...place, configurationId: made.id } })
    },
  })
  return (
    <section aria-label="Copy" className="stack-3">
      <h3 className="heading">Copy</h3>
      <Form className="form" onSubmit={() => copy.mutate()}>
        <div className="field">
          <Label htmlFor={id}>Name of the copy</Label>
          <input className="input" id={id} required value={name} onChange={(event) => setName(event.target.value)} />
          <span className="hint">A copy of the saved version and its rows, without their state.</span>
        </div>
        {copy.error ? <Problem error={copy.error} /> : null}
        <ActButton type="submit" needs="configurations.copy" className="button" disabled={copy.isPending}>
          Create a copy
        </ActButton>
      </Form>
    </section>
  )
}

function Delete({ place, configuration }: SettingsProps) {
  const refresh = useRefresh()
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => api.call('configurations.delete', { path: place }),
    onSuccess: async () => {
      await navigate({ to: FLOW_COMPONENTS.includes(place.componentId) ? '/flows' : '/components' })
      await refresh()
      toast(`Deleted ${configuration.name}.`, async () => {
        await api.call('configurations.restore', { path: place })
        await refresh()
      })
    },
  })
  return (
    <section className="stack-3" aria-label="Delete">
      <h3 className="heading">Delete</h3>
      <p className="soft">
        A deleted configuration stops running: its schedules stop, and flows that run it fail. It is kept among the deleted
        components and can be restored with its rows and versions.
      </p>
      {remove.error ? <Problem error={remove.error} /> : null}
      <div className="flex-row">
        <ActButton
          needs="configurations.delete"
          className="button danger"
          disabled={remove.isPending}
          onClick={() => remove.mutate()}
        >
          Delete the configuration
        </ActButton>
      </div>
    </section>
  )
}
