// A dashboard: its charts and tables by filters, changed in place, shared by links that expire.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Dashboard } from '../../../../client/src/operations.ts'
import type { ResultRows } from '../../chart/chart-data.ts'
import { FilterFields, TileContent } from '../../chart/tile.tsx'
import { plural } from '../../format.ts'
import { Teach } from '../../listing.tsx'
import { Lines, Loaded, type Loading, useFirstLoads, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { DashboardEditor } from './dashboard-editor.tsx'
import { ShareDashboard } from './dashboard-links.tsx'
import './dashboards.css'

const route = getRouteApi('/dashboards/$dashboardId')

type Values = Readonly<Record<string, string>>

/** Chosen values are in the address; what is no list of values counts as none. */
function valuesIn(text: string | undefined): Values {
  try {
    const values: unknown = JSON.parse(text ?? '{}')
    return typeof values === 'object' && values !== null ? (values as Values) : {}
  } catch {
    return {}
  }
}

export function DashboardScreen() {
  const { dashboardId } = route.useParams()
  const { filters, edit } = route.useSearch()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const query = useLoad('dashboards.get', { path: { dashboardId } })
  const [isSharing, setSharing] = useState(false)
  const isFirst = useFirstLoads()
  const values = valuesIn(filters)
  const dashboard = query.data
  const isEdited = edit === 'yes'
  const show = (search: { readonly filters?: string | undefined; readonly edit?: string | undefined }) =>
    void navigate({ to: '/dashboards/$dashboardId', params: { dashboardId }, search: { filters, edit, ...search } })
  const refresh = useMutation({
    mutationFn: async () => {
      const body = { query: { refresh: true, filters: JSON.stringify(values) } }
      await Promise.all(
        (dashboard?.tiles ?? []).map(({ id }) => api.call('dashboards.result', { path: { dashboardId, tileId: id }, ...body })),
      )
      await queries.invalidateQueries({ queryKey: ['dashboards.result'] })
    },
  })
  return (
    <Page
      title={dashboard?.name ?? 'Dashboard'}
      isLoading={isFirst}
      crumbs={[{ name: 'Dashboards', to: '/dashboards' }, { name: dashboard?.name ?? dashboardId }]}
      say={dashboard ? dashboard.name : query.error ? 'This dashboard cannot be shown.' : 'Dashboard'}
      sub={dashboard?.description || 'Results are as new as the tables that they read.'}
      actions={
        dashboard ? (
          <>
            <button type="button" className="button" disabled={refresh.isPending} onClick={() => refresh.mutate()}>
              Compute again
            </button>
            <ActButton needs="dashboards.createLink" className="button" onClick={() => setSharing(true)}>
              Share
            </ActButton>
            <ActButton
              needs="dashboards.update"
              className={isEdited ? 'button' : 'button primary'}
              onClick={() => show({ edit: isEdited ? undefined : 'yes' })}
            >
              {isEdited ? 'Close the editor' : 'Edit'}
            </ActButton>
            <ConfirmButton
              label="Delete"
              className="button"
              name={dashboard.name}
              needs="dashboards.remove"
              effect={<p>The dashboard is deleted, and its links stop working at once. The saved queries stay.</p>}
              act={async () => {
                await api.call('dashboards.remove', { path: { dashboardId } })
                await queries.invalidateQueries({ queryKey: ['dashboards.list'] })
                toast(`${dashboard.name} is deleted.`)
                void navigate({ to: '/dashboards' })
              }}
            />
          </>
        ) : undefined
      }
    >
      {refresh.error ? <Problem error={refresh.error} /> : null}
      <Loaded query={query} skeleton={<Lines count={6} />}>
        {(found) => (
          <div className="stack-4">
            {isEdited ? <DashboardEditor key={found.version} dashboard={found} /> : null}
            <FilterFields
              key={filters}
              filters={found.filters}
              values={values}
              onChange={(next) => show({ filters: JSON.stringify(next) })}
            />
            {found.tiles.length === 0 ? (
              <section className="card" aria-label="Tiles">
                <Teach>It shows nothing yet. Edit it, and add a saved query as a chart, a table or a figure.</Teach>
              </section>
            ) : (
              <div className="tiles">
                {found.tiles.map((tile) => (
                  <Tile key={tile.id} dashboard={found} tile={tile} values={values} />
                ))}
              </div>
            )}
          </div>
        )}
      </Loaded>
      {isSharing && dashboard ? <ShareDashboard dashboard={dashboard} onClose={() => setSharing(false)} /> : null}
    </Page>
  )
}

interface TileProps {
  readonly dashboard: Dashboard
  readonly tile: Dashboard['tiles'][number]
  readonly values: Values
}

function Tile({ dashboard: { id }, tile, values }: TileProps) {
  const result = useLoad('dashboards.result', {
    path: { dashboardId: id, tileId: tile.id },
    query: { filters: JSON.stringify(values) },
  })
  const rows = (result.data as ResultRows | undefined)?.rows.length // described loosely
  return (
    <section className="card tile" data-width={tile.width} aria-label={tile.title || 'Tile'}>
      <header>
        <h2>{tile.title}</h2>
        {tile.type === 'table' && rows !== undefined ? <span className="fine mute">{plural(rows, 'row')}</span> : null}
      </header>
      <TileContent tile={tile} query={result as Loading<ResultRows>} />
    </section>
  )
}
