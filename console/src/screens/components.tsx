// Components that can run, with their configurations.

import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { plural } from '../format.ts'
import { Lines, Loaded } from '../load.tsx'
import { FilterField } from '../parts/filter-field.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Status } from '../parts/status.tsx'
import { Page } from '../shell/page.tsx'
import { useComponents } from './names.ts'
import { NewConfiguration } from './new-configuration.tsx'

const route = getRouteApi('/components')

export function ComponentsScreen() {
  const { q = '' } = route.useSearch()
  const navigate = useNavigate()
  const query = useComponents()
  const all = query.data ?? []
  const configured = all.flatMap(({ configurations = [] }) => configurations).length
  return (
    <Page
      title="Components"
      crumbs={[{ name: 'Components' }]}
      say={
        query.data
          ? configured === 0
            ? 'Nothing is configured yet.'
            : `${plural(configured, 'configuration')} of ${plural(all.filter((one) => one.configurations?.length).length, 'component')}.`
          : 'Components'
      }
      actions={<NewConfiguration />}
    >
      <section className="card" aria-label="Configurations">
        <div className="toolbar">
          <FilterField
            label="Filter by name"
            value={q}
            onChange={(text) => void navigate({ to: '/components', search: { q: text }, replace: true })}
          />
        </div>
        <Loaded query={query as never} skeleton={<Lines count={8} />}>
          {() => <List filter={q} />}
        </Loaded>
      </section>
    </Page>
  )
}

function List({ filter }: { filter: string }) {
  const { data = [] } = useComponents()
  const asked = filter.toLowerCase()
  const rows = data.flatMap((component) =>
    (component.configurations ?? [])
      .filter((one) => `${one.name} ${component.name} ${one.id}`.toLowerCase().includes(asked))
      .map((configuration) => ({ component, configuration })),
  )
  if (rows.length === 0)
    return (
      <div className="empty">
        <p className="md soft">
          A configuration tells a component what to do: which API to read, where the rows go. Make one, run it, look at its
          tables.
        </p>
      </div>
    )
  return (
    <Scroll label="Configurations">
      <table className="t">
        <thead>
          <tr>
            <th>Configuration</th>
            <th>Component</th>
            <th className="num">Version</th>
            <th>State</th>
            <th>Id</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ component, configuration }) => (
            <tr key={`${component.id} ${configuration.id}`}>
              <td>
                <Link
                  className="med"
                  to="/components/$componentId/$configurationId"
                  params={{ componentId: component.id, configurationId: configuration.id }}
                >
                  {configuration.name}
                </Link>
              </td>
              <td>{component.name}</td>
              <td className="num">{configuration.version}</td>
              <td>{configuration.isDisabled ? <Status status="disabled" /> : null}</td>
              <td className="id">{configuration.id}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
