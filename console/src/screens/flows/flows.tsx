// Flows: what runs in order, how each went last, and making a new one.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { FLOW_COMPONENTS, useComponents } from '../../facts/names.ts'
import { moment, plural } from '../../format.ts'
import { Listing } from '../../listing.tsx'
import { useLoad } from '../../load.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Status } from '../../parts/status.tsx'
import { api, branchName } from '../../session.ts'
import { Page } from '../../shell/page.tsx'

export function FlowsScreen() {
  const query = useComponents()
  const flows = (query.data ?? [])
    .filter(({ id }) => FLOW_COMPONENTS.includes(id))
    .flatMap(({ id, configurations = [] }) => configurations.map((configuration) => ({ componentId: id, configuration })))
  const jobs = useLoad('queue.search', { query: { branchId: branchName(), limit: 200 } }).data ?? []
  const lastOf = (componentId: string, config: string) =>
    jobs.find((job) => job.component === componentId && job.config === config)
  const failed = flows.filter(
    ({ componentId, configuration }) => lastOf(componentId, configuration.id)?.status === 'error',
  ).length
  return (
    <Page
      title="Flows"
      crumbs={[{ name: 'Flows' }]}
      say={
        !query.data
          ? 'Flows'
          : flows.length === 0
            ? 'Nothing runs in order yet.'
            : `${plural(flows.length, 'flow')}, ${failed === 0 ? 'none failed last' : `${failed} failed last`}.`
      }
      actions={
        <CreateButton label="New flow" needs="configurations.create">
          {(close) => <NewFlow onClose={close} />}
        </CreateButton>
      }
    >
      <Listing
        label="Flows"
        query={query}
        count={flows.length}
        teach="A flow runs configurations in phases: extract, then transform, then deliver. Tasks of a phase run side by side."
      >
        <ListTable label="Flows" columns={['Flow', 'Last run', 'When', { num: 'Version' }, 'Id']}>
          {flows.map(({ componentId, configuration }) => {
            const last = lastOf(componentId, configuration.id)
            return (
              <tr key={`${componentId} ${configuration.id}`}>
                <td>
                  <Link
                    className="medium"
                    to="/flows/$componentId/$configurationId"
                    params={{ componentId, configurationId: configuration.id }}
                  >
                    {configuration.name}
                  </Link>
                </td>
                <td>
                  {last ? (
                    <Link to="/jobs/$jobId" params={{ jobId: last.id }}>
                      <Status status={last.status} />
                    </Link>
                  ) : (
                    <i className="null">never</i>
                  )}
                </td>
                <td className="nowrap">{last ? moment(last.startTime ?? last.createdTime) : ''}</td>
                <td className="numeric">{configuration.version}</td>
                <td className="identifier">{configuration.id}</td>
              </tr>
            )
          })}
        </ListTable>
      </Listing>
    </Page>
  )
}

function NewFlow({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: () =>
      api.call('configurations.create', {
        path: { componentId: 'keboola.flow' },
        body: { name, configuration: { phases: [], tasks: [] } },
      }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['components.list'] })
      void navigate({ to: '/flows/$componentId/$configurationId', params: { componentId: 'keboola.flow', configurationId: id } })
    },
  })
  return (
    <Dialog title="New flow" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <div className="field">
          <Label htmlFor="flow-name">Name</Label>
          <input className="input" id="flow-name" required value={name} onChange={(event) => setName(event.target.value)} />
        </div>
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Create the flow
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
