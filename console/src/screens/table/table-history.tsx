// What was done to a table: loads with their rows, changes of its structure, who did it.

import { count, moment } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ListTable } from '../../parts/list-table.tsx'

export interface TableEvent {
  readonly id: number
  readonly event: string
  readonly message: string
  readonly type: string
  readonly created: string
  readonly token?: { readonly name: string }
  readonly results?: {
    readonly rowsInFile?: number
    readonly rowsWritten?: number
    readonly rowsReplaced?: number
    readonly rowsUnchanged?: number
  }
}

const SHOWN = 100

/** "4 in, 2 new, 1 replaced, 1 unchanged": what a load did to the rows. */
export function rowsOf({ results }: TableEvent): string {
  if (results?.rowsWritten === undefined) return ''
  const { rowsInFile = 0, rowsWritten, rowsReplaced = 0, rowsUnchanged = 0 } = results
  const parts = [
    `${count(rowsInFile)} in`,
    `${count(Math.max(0, rowsWritten - rowsReplaced))} new`,
    ...(rowsReplaced > 0 ? [`${count(rowsReplaced)} replaced`] : []),
    ...(rowsUnchanged > 0 ? [`${count(rowsUnchanged)} unchanged`] : []),
  ]
  return parts.join(', ')
}

/** Reading a table leaves an event as well; what happened to the table is of interest here. */
export const CHANGES = 'NOT event:storage.tableDetail'

export const useTableEvents = (tableId: string) => {
  const query = useLoad('tables.events', { path: { tableId }, query: { limit: SHOWN, q: CHANGES } })
  return { ...query, data: query.data as readonly TableEvent[] | undefined } // described loosely
}

export function TableHistory({ tableId }: { tableId: string }) {
  const query = useTableEvents(tableId)
  return (
    <section className="card" aria-label="History">
      <Loaded query={query} skeleton={<Lines count={6} />}>
        {(data) => (
          <ListTable label="History of the table" columns={['When', 'What', 'Rows', 'Who']}>
            {data.map((one) => (
              <tr key={one.id}>
                <td className="nowrap">{moment(one.created)}</td>
                <td className={one.type === 'error' ? 'said failed' : 'said'}>{one.message}</td>
                <td className="tabular nowrap">{rowsOf(one)}</td>
                <td className="mute">{one.token?.name}</td>
              </tr>
            ))}
          </ListTable>
        )}
      </Loaded>
    </section>
  )
}
