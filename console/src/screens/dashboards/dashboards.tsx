// Dashboards: pages of charts and tables over saved queries.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { moment, plural } from '../../format.ts'
import { Listing } from '../../listing.tsx'
import { useLoad } from '../../load.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'

export function DashboardsScreen() {
  const query = useLoad('dashboards.list')
  const all = query.data ?? []
  return (
    <Page
      title="Dashboards"
      crumbs={[{ name: 'Dashboards' }]}
      say={!query.data ? 'Dashboards' : all.length === 0 ? 'There is no dashboard yet.' : `${plural(all.length, 'dashboard')}.`}
      actions={
        <CreateButton label="New dashboard" needs="dashboards.create">
          {(close) => <NewDashboard onClose={close} />}
        </CreateButton>
      }
    >
      <Listing
        label="Dashboards"
        query={query}
        count={all.length}
        teach="A dashboard shows results of saved queries as charts and tables. Save a query in SQL, create a dashboard, and add the query to it."
      >
        <ListTable label="Dashboards" columns={['Name', { num: 'Tiles' }, 'Changed']}>
          {all.map(({ id, name, description, tiles, updated }) => (
            <tr key={id}>
              <td>
                <Link to="/dashboards/$dashboardId" params={{ dashboardId: id }}>
                  {name}
                </Link>
                {description ? <p className="fine soft">{description}</p> : null}
              </td>
              <td className="numeric">{tiles.length}</td>
              <td>{moment(updated)}</td>
            </tr>
          ))}
        </ListTable>
      </Listing>
    </Page>
  )
}

function NewDashboard({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: () => api.call('dashboards.create', { body: { name } }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['dashboards.list'] })
      onClose()
      void navigate({ to: '/dashboards/$dashboardId', params: { dashboardId: id }, search: { edit: 'yes' } })
    },
  })
  return (
    <Dialog title="New dashboard" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <Field label="Name" hint="Everyone in the project sees it.">
          {(id) => (
            <input
              className="input"
              id={id}
              required
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Create the dashboard
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
