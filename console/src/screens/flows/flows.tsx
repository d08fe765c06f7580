// Flows: what runs in order, how each went last, and making a new one.

import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { NAME_QUERY } from '../../facts/name-batches.ts'
import { FLOW_COMPONENTS } from '../../facts/names.ts'
import { useSettled } from '../../facts/storage-names.ts'
import { moment, plural } from '../../format.ts'
import { Listing, ShowMore } from '../../listing.tsx'
import { useLoad } from '../../load.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Status } from '../../parts/status.tsx'
import { api, branchName } from '../../session.ts'
import { Page } from '../../shell/page.tsx'

const PAGE = 100
/** So many are found without a filter. */
const MANY = 20

export function FlowsScreen() {
  const [filter, setFilter] = useState('')
  const text = useSettled(filter.trim())
  const query = useInfiniteQuery({
    queryKey: ['configurations.browse', 'flows', text],
    queryFn: ({ pageParam, signal }) =>
      api.call('configurations.browse', {
        query: { componentId: FLOW_COMPONENTS, ...(text === '' ? {} : { text }), limit: PAGE, offset: pageParam },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < PAGE ? undefined : pages.length * PAGE),
    placeholderData: (before) => before,
  })
  const flows = (query.data?.pages ?? []).flat()
  const totals = useLoad('configurations.totals')
  const all = (totals.data ?? []).reduce(
    (sum, { componentId, configurations }) => sum + (FLOW_COMPONENTS.includes(componentId) ? configurations : 0),
    0,
  )
  const jobs = useLoad('queue.search', { query: { branchId: branchName(), componentId: FLOW_COMPONENTS, limit: 500 } }).data ?? []
  const lastOf = (componentId: string, config: string) =>
    jobs.find((job) => job.component === componentId && job.config === config)
  const failed = flows.filter((flow) => lastOf(flow.componentId, flow.configurationId)?.status === 'error').length
  return (
    <Page
      title="Flows"
      crumbs={[{ name: 'Flows' }]}
      say={
        !totals.data
          ? 'Flows'
          : all === 0
            ? 'Nothing runs in order yet.'
            : `${plural(all, 'flow')}, ${failed === 0 ? 'none failed last' : `${failed} failed last`}.`
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
        count={all === 0 ? flows.length : all}
        teach="A flow runs configurations in phases: extract, then transform, then deliver. Tasks of a phase run side by side."
      >
        {all > MANY || filter !== '' ? (
          <div className="toolbar">
            <FilterField value={filter} label="Filter by name" onChange={setFilter} />
          </div>
        ) : null}
        {flows.length === 0 ? <p className="inset mute">No matching flows.</p> : null}
        <ListTable label="Flows" columns={['Flow', 'Last run', 'When', { num: 'Version' }, 'Id']}>
          {flows.map(({ componentId, configurationId, name, version }) => {
            const last = lastOf(componentId, configurationId)
            return (
              <tr key={`${componentId} ${configurationId}`}>
                <td>
                  <Link className="medium" to="/flows/$componentId/$configurationId" params={{ componentId, configurationId }}>
                    {name}
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
                <td className="numeric">{version}</td>
                <td className="identifier">{configurationId}</td>
              </tr>
            )
          })}
        </ListTable>
        <ShowMore query={query} size={PAGE} />
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
      await Promise.all(
        [NAME_QUERY, 'configurations.browse', 'configurations.totals'].map((key) =>
          queries.invalidateQueries({ queryKey: [key] }),
        ),
      )
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
