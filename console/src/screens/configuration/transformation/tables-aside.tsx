// The tables that a script reads and makes, beside its SQL: names and columns are put where the cursor is.

import { Link } from '@tanstack/react-router'
import { type MappedTable, mappedTables } from '../../../document/script-blocks.ts'
import { quotedName } from '../../../editor/sql-completion.ts'
import type { BrowsedTable } from '../../../facts/storage-names.ts'
import { count, plural } from '../../../format.ts'
import { Icon } from '../../../parts/icon.tsx'
import './transformation.css'

interface TablesProps {
  readonly text: string
  readonly tables: readonly BrowsedTable[]
  /** Rows of results, as the last trial made them. */
  readonly made: readonly { readonly source: string; readonly rows: number | null }[]
  readonly columnsOf: (source: string) => readonly string[]
  readonly onInsert: (text: string) => void
}

export function TablesAside({ text, tables, made, columnsOf, onInsert }: TablesProps) {
  const [inputs, outputs] = [mappedTables(text, 'input'), mappedTables(text, 'output')]
  const found = (id: string) => tables.find((table) => table.id === id)
  const rowsOf = (id: string): string => {
    const table = found(id)
    return table ? plural(table.rowsCount ?? 0, 'row') : 'does not exist yet'
  }
  return (
    <>
      <Group title="Tables in" none="It reads no table by its mapping. Tables can also be named directly.">
        {inputs.map((one) => (
          <Entry
            key={`${one.source} ${one.destination}`}
            name={one.destination || one.source}
            tableId={one.source}
            isThere={found(one.source) !== undefined}
            note={rowsOf(one.source)}
            columns={found(one.source)?.columns ?? []}
            onInsert={onInsert}
          />
        ))}
      </Group>
      <Group title="Tables out" none="It keeps no table yet: name the results of the script as tables out.">
        {outputs.map((one) => (
          <Entry
            key={`${one.source} ${one.destination}`}
            name={one.source}
            tableId={one.destination}
            isThere={found(one.destination) !== undefined}
            note={madeNote(one, made) ?? rowsOf(one.destination)}
            columns={columnsOf(one.source).length > 0 ? columnsOf(one.source) : (found(one.destination)?.columns ?? [])}
            onInsert={onInsert}
          />
        ))}
      </Group>
    </>
  )
}

function madeNote({ source }: MappedTable, made: TablesProps['made']): string | undefined {
  const found = made.find((one) => one.source === source)
  if (!found) return undefined
  return found.rows === null ? 'not made by the trial' : `${count(found.rows)} in the trial`
}

const Group = ({ title, none, children }: { title: string; none: string; children: readonly React.ReactNode[] }) => (
  <section aria-label={title}>
    <div className="pane-header">
      <h2 className="heading">{title}</h2>
      <span className="fine mute push">{children.length}</span>
    </div>
    {children.length === 0 ? <p className="inset mute">{none}</p> : <div className="script-tables">{children}</div>}
  </section>
)

interface EntryProps {
  readonly name: string
  readonly tableId: string
  readonly isThere: boolean
  readonly note: string
  readonly columns: readonly string[]
  readonly onInsert: (text: string) => void
}

const PLAIN = /^[a-z_][a-z0-9_]*$/

const inSql = (name: string): string => (PLAIN.test(name) ? name : quotedName(name))

const Entry = ({ name, tableId, isThere, note, columns, onInsert }: EntryProps) => (
  <details>
    <summary className="flex-row">
      <Icon name="table" size="small" />
      <span className="medium clip">{name}</span>
      <span className="fine mute push nowrap">{note}</span>
    </summary>
    <p className="fine script-table-id">
      {isThere ? (
        <Link to="/storage/$tableId" params={{ tableId }}>
          {tableId}
        </Link>
      ) : (
        <span className="mute">{tableId || 'no table is named'}</span>
      )}{' '}
      <button type="button" className="link" onClick={() => onInsert(inSql(name))}>
        Insert the name
      </button>
    </p>
    <ul>
      {columns.map((column) => (
        <li key={column}>
          <button
            type="button"
            className="link identifier clip"
            title={`Insert ${column}`}
            onClick={() => onInsert(inSql(column))}
          >
            {column}
          </button>
        </li>
      ))}
    </ul>
  </details>
)
