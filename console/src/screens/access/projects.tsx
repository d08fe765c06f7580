// Projects of the stack, for its admins: make, rename, pause, delete and restore.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ManagedProject } from '../../../../client/src/operations.ts'
import { moment, plural, until } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Field } from '../../parts/entry-field.tsx'
import { Form } from '../../parts/form.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useRefusal } from '../../rights.ts'
import { api, chooseProject, loadSession } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'

const ORGANIZATION = { organizationId: '1' } // a stack is one
const pathOf = (id: number) => ({ projectId: String(id) })

/** Changes a project; then the lists, and the projects that the switch offers, are read again. */
function useChange<T>(work: (input: T) => Promise<unknown>, done: string, onDone: () => void = () => {}) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: work,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['projects.list'] })
      await queries.invalidateQueries({ queryKey: ['projects.deleted'] })
      toast(done)
      onDone()
      await loadSession()
    },
  })
}

export function ProjectsScreen() {
  const query = useLoad('projects.list', { path: ORGANIZATION })
  return (
    <Page
      title="Projects"
      crumbs={[{ name: 'Projects' }]}
      say={query.data ? `${plural(query.data.length, 'project')} on this stack.` : 'Projects'}
      actions={
        <CreateButton label="New project" needs="projects.create">
          {(close) => <NewProject onClose={close} />}
        </CreateButton>
      }
    >
      <section className="card" aria-label="Projects">
        <Loaded query={query} skeleton={<Lines />}>
          {(projects) => <List projects={projects} />}
        </Loaded>
      </section>
      <Deleted />
    </Page>
  )
}

function List({ projects }: { projects: readonly ManagedProject[] }) {
  const [chosen, setChosen] = useState<{ project: ManagedProject; what: 'rename' | 'pause' | 'delete' }>()
  const resume = useChange((id: number) => api.call('projects.resume', { path: pathOf(id) }), 'The project goes on.')
  return (
    <>
      {resume.error ? <Problem error={resume.error} /> : null}
      <ListTable label="Projects" columns={['Name', 'Id', 'Created', 'State', { hidden: 'Change' }]}>
        {projects.map((project) => (
          <tr key={project.id}>
            <td className="medium">
              <button type="button" className="link" onClick={() => chooseProject(project.id)}>
                {project.name}
              </button>
            </td>
            <td className="identifier">{project.id}</td>
            <td className="nowrap">{moment(project.created)}</td>
            <td>{project.disabled ? `paused: ${project.disabled.reason}` : 'active'}</td>
            <td>
              <span className="flex-row">
                <ActButton
                  needs="projects.update"
                  className="button small"
                  onClick={() => setChosen({ project, what: 'rename' })}
                >
                  Rename
                </ActButton>
                {project.isDisabled ? (
                  <ActButton needs="projects.resume" className="button small" onClick={() => resume.mutate(project.id)}>
                    Resume
                  </ActButton>
                ) : (
                  <ActButton
                    needs="projects.pause"
                    className="button small"
                    onClick={() => setChosen({ project, what: 'pause' })}
                  >
                    Pause
                  </ActButton>
                )}
                <ActButton
                  needs="projects.delete"
                  className="button small danger"
                  onClick={() => setChosen({ project, what: 'delete' })}
                >
                  Delete
                </ActButton>
              </span>
            </td>
          </tr>
        ))}
      </ListTable>
      {chosen ? <Change {...chosen} onClose={() => setChosen(undefined)} /> : null}
    </>
  )
}

interface ChangeProps {
  readonly project: ManagedProject
  readonly what: 'rename' | 'pause' | 'delete'
  readonly onClose: () => void
}

const WORDS = {
  rename: { title: 'Rename', label: 'New name', hint: undefined, submit: 'Rename it', done: 'Renamed.' },
  pause: {
    title: 'Pause',
    label: 'Reason',
    hint: 'Shown to everyone who is refused. Running jobs are terminated; nothing starts or changes until you resume it.',
    submit: 'Pause it',
    done: 'The project is paused.',
  },
  delete: {
    title: 'Delete',
    label: 'Type its name',
    hint: 'Access is blocked. It can be restored for 7 days; then all of its data is deleted.',
    submit: 'Delete it',
    done: 'Deleted. It can be restored for 7 days.',
  },
} as const

function Change({ project: { id, name }, what, onClose }: ChangeProps) {
  const [text, setText] = useState(what === 'rename' ? name : '')
  const words = WORDS[what]
  const path = pathOf(id)
  const calls = {
    rename: () => api.call('projects.update', { path, body: { name: text } }),
    pause: () => api.call('projects.pause', { path, body: { disableReason: text } }),
    delete: () => api.call('projects.delete', { path }),
  }
  const change = useChange<void>(() => calls[what](), words.done, onClose)
  return (
    <Dialog title={`${words.title} ${name}`} onClose={onClose}>
      <Form onSubmit={() => change.mutate()}>
        <Field
          id="change"
          label={words.label}
          value={text}
          onChange={setText}
          {...(words.hint === undefined ? {} : { hint: words.hint })}
        />
        {change.error ? <Problem error={change.error} /> : null}
        <button
          type="submit"
          className={what === 'delete' ? 'button danger' : 'button primary'}
          disabled={change.isPending || (what === 'delete' && text !== name)}
        >
          {words.submit}
        </button>
      </Form>
    </Dialog>
  )
}

function NewProject({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const create = useChange<void>(
    () => api.call('projects.create', { path: ORGANIZATION, body: { name } }),
    'The project is there.',
    onClose,
  )
  return (
    <Dialog title="New project" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <Field id="project-name" label="Name of the project" value={name} onChange={setName} />
        {create.error ? <Problem error={create.error} /> : null}
        <button type="submit" className="button primary" disabled={create.isPending}>
          Create the project
        </button>
      </Form>
    </Dialog>
  )
}

function Deleted() {
  const query = useLoad('projects.deleted', {}, { enabled: useRefusal('projects.deleted') === undefined })
  const restore = useChange((id: number) => api.call('projects.restore', { path: pathOf(id) }), 'The project is restored.')
  const list = query.data ?? []
  if (list.length === 0) return null
  return (
    <section className="card" aria-label="Deleted projects">
      <h2 className="heading inset">Deleted</h2>
      {restore.error ? <Problem error={restore.error} /> : null}
      <ListTable label="Deleted projects" columns={['Name', 'Deleted', { hidden: 'Restore' }]}>
        {list.map(({ id, name, purgeTime }) => (
          <tr key={id}>
            <td className="medium">{name}</td>
            <td className="nowrap">{purgeTime === undefined ? '' : until(purgeTime)}</td>
            <td>
              <ActButton needs="projects.restore" className="button small" onClick={() => restore.mutate(id)}>
                Restore
              </ActButton>
            </td>
          </tr>
        ))}
      </ListTable>
    </section>
  )
}
