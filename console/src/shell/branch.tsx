// The development branch that the screens work in: chosen at the top of the rail, named above every screen.

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useLoad } from '../load.tsx'
import { Icon } from '../parts/icon.tsx'
import './shell.css'

function useBranches() {
  const { branch } = useSearch({ strict: false })
  const all = useLoad('branches.list').data ?? []
  return {
    branch,
    development: all.filter(({ isDefault }) => !isDefault),
    name: all.find(({ id }) => id === branch)?.name ?? String(branch),
  }
}

/** Search parameters that choose a branch, or leave it; the others stay. */
const inBranch = (branch: number | undefined) => (before: object) => ({ ...before, branch })

export function BranchSwitch() {
  const { branch, development, name } = useBranches()
  const navigate = useNavigate()
  if (development.length === 0 && branch === undefined)
    return (
      <Link className="flex-row gap-1" to="/branches">
        <Icon name="branch" size="small" />
        Main
      </Link>
    )
  return (
    <>
      <Link to="/branches" aria-label="Branches" title="Branches">
        <Icon name="branch" size="small" />
      </Link>
      <select
        className="input small grow"
        aria-label="Branch"
        value={branch ?? ''}
        onChange={({ target }) =>
          void navigate({ to: '.', search: inBranch(target.value === '' ? undefined : Number(target.value)) })
        }
      >
        <option value="">Main</option>
        {development.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
        {branch !== undefined && !development.some(({ id }) => id === branch) ? <option value={branch}>{name}</option> : null}
      </select>
    </>
  )
}

/** Above every screen, as long as a branch is chosen. */
export function BranchMark() {
  const { branch, name } = useBranches()
  if (branch === undefined) return null
  return (
    <section className="branch-mark" aria-label="Branch">
      <Icon name="branch" size="small" />
      <span className="grow">
        In branch <b className="medium">{name}</b>
        <span className="hide-small">: what you change and run here leaves the default branch alone.</span>
      </span>
      <Link to="/branches/$branchId" params={{ branchId: String(branch) }}>
        Compare and merge
      </Link>
      <Link to="." search={inBranch(undefined)}>
        Leave<span className="hide-small"> the branch</span>
      </Link>
    </section>
  )
}
