// Tables of a database, chosen from those that it has. Of the database extractor each becomes a row, or all of them one row that reads them
// together; of the change capture they are added to the list of its settings, which is saved with them.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Draft } from '../../document/draft.ts'
import { parsed, setAt, valueIn } from '../../document/json-text.ts'
import { runAction } from '../../facts/run-action.ts'
import type { ConfigurationPlace, LoadedConfiguration } from '../../facts/use-configuration.ts'
import { plural } from '../../format.ts'
import { Loaded } from '../../load.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import './configuration.css'

interface Listed {
  readonly schema: string
  readonly name: string
  readonly kind: 'table' | 'view'
  readonly estimatedRows?: number
}

interface Props {
  readonly place: ConfigurationPlace
  readonly loaded: LoadedConfiguration
  /** The root, with changes that are not saved yet. */
  readonly draft: Draft
  readonly onClose: () => void
}

export const CHANGE_CAPTURE = 'platform.ex-database-changes'
const TABLES = ['parameters', 'tables']
const SHOWN = 500
const keyOf = ({ schema, name }: Pick<Listed, 'schema' | 'name'>): string => JSON.stringify([schema, name])
const labelOf = ({ schema, name }: Listed): string => (schema === '' ? name : `${schema}.${name}`)

export function ChooseTables({ place, loaded, draft: { text, edit }, onClose }: Props) {
  const isCapture = place.componentId === CHANGE_CAPTURE
  const queries = useQueryClient()
  const [filter, setFilter] = useState('')
  const [chosen, setChosen] = useState<ReadonlyMap<string, Listed>>(new Map())
  const [isTogether, setTogether] = useState(false)
  const query = useQuery<{ readonly tables: readonly Listed[] }, Error>({
    queryKey: ['tables of a database', text],
    queryFn: () => runAction(place.componentId, 'listTables', text),
    retry: false,
  })
  const present = isCapture ? listIn(text).flatMap(tableIn) : presentIn(loaded)
  const isPresent = ({ schema, name }: Listed) =>
    present.some((one) => one.name === name && (one.schema === schema || one.schema === ''))
  const add = useMutation({
    mutationFn: async () => {
      const tables = [...chosen.values()]
      const entries = tables.map((table) => ({ ...table, outputTable: outputOf(table, [...tables, ...present]) }))
      const inList = entries.map(({ schema, name, outputTable }) => ({ schema, tableName: name, ...outputTable }))
      if (isCapture) return edit(setAt(text, TABLES, [...listIn(text), ...inList]))
      const create = (name: string, parameters: object) =>
        api.call('rows.create', { path: place, body: { name, configuration: { parameters } } })
      if (isTogether) {
        const name = `${plural(tables.length, 'table')}: ${tables.map((table) => table.name).join(', ')}`
        await create(name.slice(0, 200), { tables: inList })
        return
      }
      for (const { schema, name, outputTable } of entries)
        await create(name, { table: { schema, tableName: name }, ...outputTable })
    },
    onSuccess: async () => {
      toast(
        `${plural(chosen.size, 'table')} added${isCapture ? '. Save the configuration' : isTogether ? ' as one row' : ', each as a row'}.`,
      )
      onClose()
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['configurations.get'] }),
  })
  const toggle = (table: Listed) =>
    setChosen((before) => {
      const next = new Map(before)
      if (!next.delete(keyOf(table))) next.set(keyOf(table), table)
      return next
    })
  return (
    <Dialog title="Choose tables" onClose={onClose}>
      <Form onSubmit={() => chosen.size > 0 && add.mutate()}>
        <div className="field">
          <label htmlFor="choose-tables-filter">Filter</label>
          <input className="input" id="choose-tables-filter" value={filter} onChange={(event) => setFilter(event.target.value)} />
        </div>
        <Loaded query={query}>
          {({ tables }) => {
            const words = filter.trim().toLowerCase()
            const found = tables.filter(
              (table) => labelOf(table).toLowerCase().includes(words) && !(isCapture && table.kind === 'view'),
            )
            if (found.length === 0) return <p className="soft">No matching tables.</p>
            return (
              <>
                <ul className="list streams" aria-label="Tables of the database">
                  {found.slice(0, SHOWN).map((table) => (
                    <li key={keyOf(table)}>
                      <label className="flex-row grow">
                        <input
                          type="checkbox"
                          disabled={isPresent(table)}
                          checked={isPresent(table) || chosen.has(keyOf(table))}
                          onChange={() => toggle(table)}
                        />
                        <span className="medium">{labelOf(table)}</span>
                        <span className="fine mute">{factsOf(table)}</span>
                      </label>
                    </li>
                  ))}
                </ul>
                {found.length > SHOWN ? (
                  <p className="fine mute">
                    The first {SHOWN} of {found.length} tables are shown. Filter by a part of the name.
                  </p>
                ) : null}
              </>
            )
          }}
        </Loaded>
        {isCapture ? null : (
          <label className="flex-row">
            <input type="checkbox" checked={isTogether} onChange={(event) => setTogether(event.target.checked)} />
            <span>Read them together, as one state of the database, by one row</span>
          </label>
        )}
        <DialogEnd error={add.error} isPending={add.isPending || chosen.size === 0} onClose={onClose}>
          Add the tables
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

const factsOf = ({ kind, estimatedRows = -1 }: Listed): string =>
  [...(kind === 'view' ? ['view'] : []), ...(estimatedRows >= 0 ? [`about ${plural(estimatedRows, 'row')}`] : [])].join(', ')

type Named = Pick<Listed, 'schema' | 'name'>

/** Tables of the same name in two schemas get the schema in the name of their table. */
function outputOf({ schema, name }: Listed, all: readonly Named[]): { readonly outputTable?: string } {
  const isRepeated = all.filter((one) => one.name.toLowerCase() === name.toLowerCase()).length > 1
  return isRepeated ? { outputTable: `${schema}_${name}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 96) } : {}
}

function listIn(text: string): readonly unknown[] {
  const list = valueIn(parsed(text), TABLES)
  return Array.isArray(list) ? list : []
}

/** Tables that a row of the configuration reads. */
const presentIn = ({ configuration }: LoadedConfiguration): readonly Named[] =>
  configuration.rows.flatMap(({ configuration: row }) => {
    const several = valueIn(row, TABLES)
    return [valueIn(row, ['parameters', 'table']), ...(Array.isArray(several) ? several : [])].flatMap(tableIn)
  })

function tableIn(entry: unknown): readonly Named[] {
  const { schema, tableName } = (entry ?? {}) as { schema?: unknown; tableName?: unknown } // each is looked at
  return typeof tableName === 'string' ? [{ schema: typeof schema === 'string' ? schema : '', name: tableName }] : []
}
