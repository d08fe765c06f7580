// A project: its name, what it may use at most, how branches are reviewed, and the features that clients look for.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Project, useProject } from '../../facts/project.ts'
import { count } from '../../format.ts'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useRefusal } from '../../rights.ts'
import { api, loadSession } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { ReviewRule } from '../../views/review-rule.tsx'

export function ProjectSettings() {
  const project = useProject()
  if (!project) return null
  return (
    <div className="columns">
      <div className="stack-4">
        <Name key={project.name} project={project} />
        <Limits projectId={project.id} />
        <ReviewRule />
        <Features project={project} />
      </div>
      <Places />
    </div>
  )
}

function Name({ project }: { project: Project }) {
  const queries = useQueryClient()
  const refusal = useRefusal('projects.update')
  const [name, setName] = useState(project.name)
  const write = async (next: string) => {
    await api.call('projects.update', { path: { projectId: String(project.id) }, body: { name: next } })
    await queries.invalidateQueries({ queryKey: ['tokens.verify'] })
    await loadSession()
  }
  const save = useMutation({
    mutationFn: () => write(name).then(() => project.name), // of now: when it is done, this is drawn with what was saved
    onSuccess: (was) => toast('Renamed.', () => write(was)),
  })
  return (
    <section className="card" aria-labelledby="project-name">
      <header>
        <h2 id="project-name">Name</h2>
        <span className="push identifier">{project.id}</span>
      </header>
      <Form onSubmit={() => save.mutate()}>
        <Field label="Name of the project" hint={refusal ?? 'Everyone sees it. The id cannot change.'}>
          {(id) => (
            <input
              className="input"
              id={id}
              required
              disabled={refusal !== undefined}
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
        {save.error ? <Problem error={save.error} /> : null}
        <ActButton needs="projects.update" type="submit" className="button" disabled={name === project.name || save.isPending}>
          Rename
        </ActButton>
      </Form>
    </section>
  )
}

interface Limit {
  readonly name: string
  readonly description: string
  readonly value: number | null
}

function Limits({ projectId }: { projectId: number }) {
  const query = useLoad('billing.limits')
  const [open, setOpen] = useState<Limit>()
  return (
    <section className="card" aria-labelledby="project-limits">
      <header>
        <h2 id="project-limits">Limits</h2>
        <Link className="fine push" to="/usage">
          What is used
        </Link>
      </header>
      <Loaded query={query}>
        {(limits) => (
          <ListTable label="Limits" columns={['What', { num: 'At most' }, { hidden: 'Change' }]}>
            {limits.map((limit) => (
              <tr key={limit.name}>
                <td className="said">
                  {limit.description.replace(/^./, (first) => first.toUpperCase())}
                  <p className="identifier">{limit.name}</p>
                </td>
                <td className="numeric nowrap">{limit.value === null ? 'not set' : count(limit.value)}</td>
                <td>
                  <ActButton
                    needs="projects.setLimits"
                    className="button small"
                    aria-label={`Change ${limit.name}`}
                    onClick={() => setOpen(limit)}
                  >
                    Change
                  </ActButton>
                </td>
              </tr>
            ))}
          </ListTable>
        )}
      </Loaded>
      {open ? <ChangeLimit projectId={projectId} limit={open} onClose={() => setOpen(undefined)} /> : null}
    </section>
  )
}

function ChangeLimit({ projectId, limit, onClose }: { projectId: number; limit: Limit; onClose: () => void }) {
  const queries = useQueryClient()
  const path = { projectId: String(projectId) }
  const [value, setValue] = useState(limit.value === null ? '' : String(limit.value))
  const put = async (next: number | null) => {
    if (next === null) await api.call('projects.removeLimit', { path: { ...path, limit: limit.name } })
    else await api.call('projects.setLimits', { path, body: { limits: [{ name: limit.name, value: next }] } })
    await queries.invalidateQueries({ queryKey: ['billing.limits'] })
  }
  const change = useMutation({
    mutationFn: () => put(value === '' ? null : Number(value)),
    onSuccess: () => {
      onClose()
      toast('Saved.', () => put(limit.value))
    },
  })
  return (
    <Dialog title={`Change ${limit.name}`} onClose={onClose}>
      <Form onSubmit={() => change.mutate()}>
        <p className="body-text soft">{limit.description.replace(/^./, (first) => first.toUpperCase())}.</p>
        <Field
          label="At most"
          hint={value === '' ? 'Not set: the default of the stack applies, if it has one.' : 'What exceeds it is refused.'}
        >
          {(id) => (
            <input
              className="input"
              id={id}
              type="number"
              min="0"
              step="1"
              value={value}
              onChange={({ target }) => setValue(target.value)}
            />
          )}
        </Field>
        {change.error ? <Problem error={change.error} /> : null}
        <button type="submit" className="button primary" disabled={change.isPending}>
          {value === '' ? 'Remove the limit' : 'Set the limit'}
        </button>
      </Form>
    </Dialog>
  )
}

function Features({ project }: { project: Project }) {
  const queries = useQueryClient()
  const ofStack = useLoad('index.get', { query: { exclude: 'components' } }).data?.features ?? []
  const own = project.features.filter((name) => !ofStack.includes(name))
  const [name, setName] = useState('')
  const path = { projectId: String(project.id) }
  const put = async (feature: string, isOn: boolean) => {
    if (isOn) await api.call('projects.addFeature', { path, body: { feature } })
    else await api.call('projects.removeFeature', { path: { ...path, feature } })
    await queries.invalidateQueries({ queryKey: ['tokens.verify'] })
  }
  const change = useMutation({
    mutationFn: ({ feature, isOn }: { feature: string; isOn: boolean }) => put(feature, isOn),
    onSuccess: (_, { feature, isOn }) => {
      setName('')
      toast(isOn ? `${feature} is on.` : `${feature} is off.`, () => put(feature, !isOn))
    },
  })
  return (
    <section className="card" aria-labelledby="features">
      <header>
        <h2 id="features">Features</h2>
        <span className="push fine mute">what clients look for</span>
      </header>
      <div className="inset stack-4">
        <p className="soft">
          Every project of this stack has {ofStack.join(', ')}.{' '}
          {own.length === 0 ? 'This one has no further feature.' : 'This one has, too:'}
        </p>
        {own.length === 0 ? null : (
          <ul className="flex-row wrap">
            {own.map((feature) => (
              <li key={feature} className="chip">
                {feature}
                <ActButton
                  needs="projects.removeFeature"
                  className="button icon ghost small"
                  disabled={change.isPending}
                  onClick={() => change.mutate({ feature, isOn: false })}
                >
                  <Icon name="x" size="small" />
                  <span className="visually-hidden">Remove {feature}</span>
                </ActButton>
              </li>
            ))}
          </ul>
        )}
        {change.error ? <Problem error={change.error} /> : null}
        <Form className="flex-row" onSubmit={() => change.mutate({ feature: name.trim(), isOn: true })}>
          <input
            className="input small"
            aria-label="Name of a feature"
            placeholder="name of a feature"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          <ActButton
            needs="projects.addFeature"
            type="submit"
            className="button small"
            disabled={name.trim() === '' || change.isPending}
          >
            Add
          </ActButton>
        </Form>
      </div>
    </section>
  )
}

const PLACES: readonly (readonly [string, string, string])[] = [
  ['/people', 'People', 'who works here, and their roles'],
  ['/tokens', 'Tokens', 'for programs and scripts'],
  ['/vault', 'Vault', 'secrets and variables'],
  ['/notifications', 'Notifications', 'who is told what'],
  ['/branches', 'Branches', 'changes that are not merged yet'],
  ['/agents', 'Agents', 'what they may do, and what they ask for'],
]

const Places = () => (
  <section className="card" aria-labelledby="more-settings">
    <header>
      <h2 id="more-settings">Also of this project</h2>
    </header>
    <ul className="list">
      {PLACES.map(([to, name, about]) => (
        <li key={to}>
          <span className="grow">
            <Link className="medium" to={to}>
              {name}
            </Link>
            <span className="fine mute block">{about}</span>
          </span>
        </li>
      ))}
    </ul>
  </section>
)
