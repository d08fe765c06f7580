// Which project the console shows. Who belongs to several chooses here; the others read its name.

import { Link } from '@tanstack/react-router'
import { useLoad } from '../load.tsx'
import { Icon } from '../parts/icon.tsx'
import { chooseProject, usePerson } from '../session.ts'

export function ProjectSwitch() {
  const person = usePerson()
  const me = useLoad('tokens.verify').data
  const project = (me as { owner?: { name?: string } } | undefined)?.owner // verify says more than other answers
  const projects = person?.account.projects ?? []
  return (
    <div className="switch">
      <span className="grow col">
        {projects.length > 1 ? (
          <select
            className="input sm"
            aria-label="Project"
            value={person?.projectId}
            onChange={(event) => chooseProject(Number(event.target.value))}
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
        <span className="xs mute row gap1">
          <Icon name="branch" size="sm" />
          <Link to="/branches">Main</Link>
        </span>
      </span>
    </div>
  )
}
