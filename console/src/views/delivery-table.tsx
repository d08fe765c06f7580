// Tables and where they are delivered to, those that are behind the longest first.

import { Link } from '@tanstack/react-router'
import { behindText, countsText, type Delivery } from '../facts/deliveries.ts'
import { useNames } from '../facts/names.ts'
import { moment } from '../format.ts'
import { ListTable } from '../parts/list-table.tsx'
import { Status } from '../parts/status.tsx'

const STATUS = { current: 'fresh', behind: 'late', never: 'created' } as const

/** `isOfOne`: of one configuration, which needs no name. */
export function DeliveryTable({ deliveries, isOfOne = false }: { deliveries: readonly Delivery[]; isOfOne?: boolean }) {
  const nameOf = useNames()
  return (
    <ListTable
      label="How far targets are behind"
      columns={[...(isOfOne ? ['Row'] : ['Delivery']), 'Table', 'Target', 'Last delivery', 'What']}
    >
      {deliveries.map(({ componentId, configurationId, rowId, name, tableId, state, behindSeconds, lastDelivery, failure }) => (
        <tr key={`${componentId} ${configurationId} ${rowId} ${tableId}`}>
          <td>
            {isOfOne ? (
              <span className="identifier">{rowId}</span>
            ) : (
              <Link
                className="medium"
                to="/components/$componentId/$configurationId"
                params={{ componentId, configurationId }}
                search={{ tab: 'deliveries', ...(rowId === null ? {} : { row: rowId }) }}
              >
                {name ?? nameOf(componentId, configurationId)}
              </Link>
            )}
          </td>
          <td>
            <Link className="mono" to="/storage/$tableId" params={{ tableId }}>
              {tableId}
            </Link>
          </td>
          <td className="nowrap">
            <Status status={STATUS[state]} text={behindText({ state, behindSeconds })} />
          </td>
          <td className="nowrap">{lastDelivery === null ? '' : moment(lastDelivery.time)}</td>
          <td className="what">
            {lastDelivery === null ? '' : countsText(lastDelivery.counts)}
            {failure ? (
              <div className="fine failed clip">
                <Link to="/jobs/$jobId" params={{ jobId: failure.jobId }}>
                  The newest job failed
                </Link>
                : {failure.message}
              </div>
            ) : null}
          </td>
        </tr>
      ))}
    </ListTable>
  )
}
