// What was done to a table: loads with their rows, changes of its structure, who did it.

import { count, moment } from '../format.ts'
import { Lines, Loaded, useLoad } from '../load.tsx'
import { ListTable } from '../parts/list-table.tsx'

interface TableEvent {
  readonly id: number
  readonly event: string
  readonly message: string
  readonly type: string
  readonly created: string
  readonly token?: { readonly name: string }
  readonly results?: { readonly rowsInFile?: number; readonly rowsWritten?: number; readonly rowsReplaced?: number }
}

const SHOWN = 100

function rowsOf({ results }: TableEvent): string {
  if (results?.rowsWritten === undefined) return ''
  const replaced = results.rowsReplaced ? `, ${count(results.rowsReplaced)} replaced` : ''
  return `${count(results.rowsWritten)} written${replaced}`
}

export function TableHistory({ tableId }: { tableId: string }) {
  const query = useLoad('tables.events', { path: { tableId }, query: { limit: SHOWN } })
  return (
    <section className="card" aria-label="History">
      <Loaded query={query} skeleton={<Lines count={6} />}>
        {(data) => (
          <ListTable label="History of the table" columns={['When', 'What', 'Rows', 'Who']}>
            {(data as readonly TableEvent[]).map((one) => (
              <tr key={one.id}>
                <td className="nowrap">{moment(one.created)}</td>
                <td className={one.type === 'error' ? 'err' : ''}>{one.message}</td>
                <td className="tn nowrap">{rowsOf(one)}</td>
                <td className="mute">{one.token?.name}</td>
              </tr>
            ))}
          </ListTable>
        )}
      </Loaded>
    </section>
  )
}
