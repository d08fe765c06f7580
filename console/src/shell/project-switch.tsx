// Which project and branch the console shows. Who belongs to several projects chooses here; the others read its name.

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useMe } from '../facts/me.ts'
import { Dialog } from '../parts/drawer.tsx'
import { Icon } from '../parts/icon.tsx'
import { chooseProject, usePerson } from '../session.ts'
import { BranchSwitch } from './branch.tsx'
import './shell.css'

/** At the top of the rail. */
export function ProjectSwitch() {
  const { branch } = useSearch({ strict: false })
  return (
    <div className={branch === undefined ? 'switch' : 'switch in-branch'}>
      <Link className="rail-branch" to="/branches" aria-label="Project and branches" title="Project and branches">
        <Icon name="branch" />
      </Link>
      <Choices />
    </div>
  )
}

/** On a small screen, where the rail is not shown. */
export function ProjectButton() {
  const { branch } = useSearch({ strict: false })
  const projectId = usePerson()?.projectId
  const [isOpen, setOpen] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was chosen closes it
  useEffect(() => setOpen(false), [branch, projectId])
  return (
    <>
      <button
        type="button"
        className="button icon ghost only-small"
        aria-label="Project and branch"
        title="Project and branch"
        onClick={() => setOpen(true)}
      >
        <Icon name="branch" />
      </button>
      {isOpen ? (
        <Dialog title="Project and branch" onClose={() => setOpen(false)}>
          <div className="inset stack-4">
            <Choices />
            <Link to="/branches" onClick={() => setOpen(false)}>
              All branches
            </Link>
          </div>
        </Dialog>
      ) : null}
    </>
  )
}

function Choices() {
  const person = usePerson()
  const { branch } = useSearch({ strict: false })
  const navigate = useNavigate()
  const me = useMe()
  const project = (me as { owner?: { name?: string } } | undefined)?.owner // verify returns more than other operations
  const projects = person?.account.projects ?? []
  const choose = async (projectId: number) => {
    if (branch !== undefined) await navigate({ to: '/', search: { branch: undefined } }) // it is a branch of this project
    chooseProject(projectId)
  }
  return (
    <span className="grow column">
      {projects.length > 1 ? (
        <select
          className="input small"
          aria-label="Project"
          value={person?.projectId}
          onChange={(event) => void choose(Number(event.target.value))}
        >
          {projects.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      ) : (
        <span className="medium clip">{project?.name ?? 'Project'}</span>
      )}
      <span className="fine mute flex-row gap-1">
        <BranchSwitch />
      </span>
    </span>
  )
}
