// Which project the console shows. Who belongs to several chooses here; the others read its name.

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useLoad } from '../load.tsx'
import { Icon } from '../parts/icon.tsx'
import { chooseProject, usePerson } from '../session.ts'
import { BranchSwitch } from './branch.tsx'

export function ProjectSwitch() {
  const person = usePerson()
  const { branch } = useSearch({ strict: false })
  const navigate = useNavigate()
  const me = useLoad('tokens.verify').data
  const project = (me as { owner?: { name?: string } } | undefined)?.owner // verify says more than other answers
  const projects = person?.account.projects ?? []
  const choose = async (projectId: number) => {
    if (branch !== undefined) await navigate({ to: '/', search: { branch: undefined } }) // it is a branch of this project
    chooseProject(projectId)
  }
  return (
    <div className={branch === undefined ? 'switch' : 'switch in-branch'}>
      <Link className="rail-branch" to="/branches" aria-label="Project and branches" title="Project and branches">
        <Icon name="branch" />
      </Link>
      <span className="grow col">
        {projects.length > 1 ? (
          <select
            className="input sm"
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
          <span className="med clip">{project?.name ?? 'Project'}</span>
        )}
        <span className="xs mute row gap1 branch-switch">
          <BranchSwitch />
        </span>
      </span>
    </div>
  )
}
