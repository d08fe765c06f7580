// The stack: values, backups, nodes, where programs may connect to, and components. For stack admins.

import { useState } from 'react'
import { plural } from '../../format.ts'
import { Teach } from '../../listing.tsx'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Status } from '../../parts/status.tsx'
import { usePerson } from '../../session.ts'
import { Nodes } from '../../views/nodes.tsx'
import { Backups } from './backups.tsx'
import { StackValues } from './stack-values.tsx'

export function StackSettings() {
  if (!usePerson()?.account.isStackAdmin)
    return (
      <section className="card" aria-label="Stack">
        <Teach>
          Settings, nodes, backups and components of the stack concern every project, so no token of a project shows them. Sign in
          as a stack admin.
        </Teach>
      </section>
    )
  return (
    <>
      <Backups />
      <Nodes />
      <Egress />
      <StackValues />
      <Components />
    </>
  )
}

const EGRESS = 'MILLRACE_EGRESS_ALLOW'

/** Where components, webhooks and notifications may connect to besides public addresses. */
function Egress() {
  const query = useLoad('operations.settings')
  return (
    <section className="card" aria-labelledby="egress">
      <header>
        <h2 id="egress">Where programs may connect to</h2>
      </header>
      <Loaded query={query} skeleton={<Lines count={2} />}>
        {(settings) => {
          const setting = settings.find(({ name }) => name === EGRESS)
          const given = setting?.origin === 'default' ? '' : (setting?.value ?? '')
          const allowed = given.split(/[\s,]+/).filter((one) => one !== '')
          return (
            <div className="inset stack-3">
              <p className="soft">
                {allowed.includes('*')
                  ? 'Every address, also of this machine and of private networks: the guard is off.'
                  : allowed.length === 0
                    ? 'Public addresses only. Addresses of this machine and of private networks are refused.'
                    : 'Public addresses, and of this machine and of private networks only these:'}
              </p>
              {allowed.length === 0 || allowed.includes('*') ? null : (
                <ul className="flex-row wrap">
                  {allowed.map((one) => (
                    <li key={one} className="chip mono">
                      {one}
                    </li>
                  ))}
                </ul>
              )}
              <p className="fine mute">
                Components, webhooks and notifications follow this list. It is {EGRESS} in the environment of every node, read at
                the start.
              </p>
            </div>
          )
        }}
      </Loaded>
    </section>
  )
}

/** Answers have more members than their schema. */
interface Component {
  readonly id: string
  readonly name: string
  readonly type: string
}

function Components() {
  const index = useLoad('index.get', { query: {} })
  const status = useLoad('operations.status')
  const [filter, setFilter] = useState('')
  const all = (index.data?.components ?? []) as readonly Component[]
  const shown = all.filter(({ id, name, type }) => `${id} ${name} ${type}`.toLowerCase().includes(filter.trim().toLowerCase()))
  const problems = (status.data?.checks.find(({ check }) => check === 'components')?.facts.problems ?? []) as readonly string[]
  return (
    <section className="card" aria-labelledby="stack-components">
      <header className="wrap">
        <h2 id="stack-components">Components</h2>
        <span className="fine mute">{index.data ? plural(all.length, 'component') : ''}</span>
        <span className="push">
          <FilterField label="Filter components" value={filter} onChange={setFilter} />
        </span>
      </header>
      {problems.length > 0 ? (
        <ul className="list">
          {problems.map((problem) => (
            <li key={problem}>
              <Status status="error" text="Cannot be used" />
              <span>{problem}</span>
            </li>
          ))}
        </ul>
      ) : null}
      <p className="inset fine mute">
        Add a component by its description in the folder components of the data folder; it is found without a restart.
      </p>
      <Loaded query={index} skeleton={<Lines count={6} />}>
        {() => (
          <ListTable label="Components of the stack" columns={['Component', 'Type', 'Id']}>
            {shown.map(({ id, name, type }) => (
              <tr key={id}>
                <td className="medium">{name}</td>
                <td>{type}</td>
                <td className="identifier">{id}</td>
              </tr>
            ))}
          </ListTable>
        )}
      </Loaded>
    </section>
  )
}
