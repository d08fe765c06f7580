// Tables of a database, chosen from those that it has: each becomes a row of its own, or all of them one row that reads them together.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { valueIn } from '../../document/json-text.ts'
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
  readonly text: string
  readonly onClose: () => void
}

const SHOWN = 500
const keyOf = ({ schema, name }: Pick<Listed, 'schema' | 'name'>): string => JSON.stringify([schema, name])
const labelOf = ({ schema, name }: Listed): string => (schema === '' ? name : `${schema}.${name}`)

export function ChooseTables({ place, loaded, text, onClose }: Props) {
  const queries = useQueryClient()
  const [filter, setFilter] = useState('')
  const [chosen, setChosen] = useState<ReadonlyMap<string, Listed>>(new Map())
  const [isTogether, setTogether] = useState(false)
  const query = useQuery<{ readonly tables: readonly Listed[] }, Error>({
    queryKey: ['tables of a database', text],
    queryFn: () => runAction(place.componentId, 'listTables', text),
    retry: false,
  })
  const add = useMutation({
    mutationFn: async () => {
      const tables = [...chosen.values()]
      const entries = tables.map((table) => ({ ...table, outputTable: outputOf(table, tables) }))
      const create = (name: string, parameters: object) =>
        api.call('rows.create', { path: place, body: { name, configuration: { parameters } } })
      if (isTogether) {
        await create(`${plural(tables.length, 'table')}: ${tables.map(({ name }) => name).join(', ')}`.slice(0, 200), {
          tables: entries.map(({ schema, name, outputTable }) => ({ schema, tableName: name, ...outputTable })),
        })
        return
      }
      for (const { schema, name, outputTable } of entries)
        await create(name, { table: { schema, tableName: name }, ...outputTable })
    },
    onSuccess: async () => {
      toast(`${plural(chosen.size, 'table')} added${isTogether ? ' as one row' : ', each as a row'}.`)
      onClose()
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['configurations.get'] }),
  })
  const present = presentIn(loaded)
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
            const found = tables.filter((table) => labelOf(table).toLowerCase().includes(filter.trim().toLowerCase()))
            if (found.length === 0) return <p className="soft">No matching tables.</p>
            return (
              <>
                <ul className="list streams" aria-label="Tables of the database">
                  {found.slice(0, SHOWN).map((table) => {
                    const isPresent = present.has(keyOf(table)) || present.has(keyOf({ schema: '', name: table.name }))
                    return (
                      <li key={keyOf(table)}>
                        <label className="flex-row grow">
                          <input
                            type="checkbox"
                            disabled={isPresent}
                            checked={isPresent || chosen.has(keyOf(table))}
                            onChange={() => toggle(table)}
                          />
                          <span className="medium">{labelOf(table)}</span>
                          <span className="fine mute">{factsOf(table)}</span>
                        </label>
                      </li>
                    )
                  })}
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
        <label className="flex-row">
          <input type="checkbox" checked={isTogether} onChange={(event) => setTogether(event.target.checked)} />
          <span>Read them together, as one state of the database, by one row</span>
        </label>
        <DialogEnd error={add.error} isPending={add.isPending || chosen.size === 0} onClose={onClose}>
          Add the tables
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

const factsOf = ({ kind, estimatedRows = -1 }: Listed): string =>
  [...(kind === 'view' ? ['view'] : []), ...(estimatedRows >= 0 ? [`about ${plural(estimatedRows, 'row')}`] : [])].join(', ')

/** Tables of the same name in two schemas get the schema in the name of their table. */
function outputOf({ schema, name }: Listed, all: readonly Listed[]): { readonly outputTable?: string } {
  const isRepeated = all.filter((one) => one.name === name).length > 1
  return isRepeated ? { outputTable: `${schema}_${name}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 96) } : {}
}

/** Tables that a row of the configuration reads. */
function presentIn({ configuration }: LoadedConfiguration): ReadonlySet<string> {
  const entries = configuration.rows.flatMap(({ configuration: row }) => {
    const several = valueIn(row, ['parameters', 'tables'])
    return [valueIn(row, ['parameters', 'table']), ...(Array.isArray(several) ? several : [])]
  })
  return new Set(
    entries.flatMap((entry) => {
      const { schema, tableName } = (entry ?? {}) as { schema?: unknown; tableName?: unknown } // each is looked at
      return typeof tableName === 'string' ? [keyOf({ schema: typeof schema === 'string' ? schema : '', name: tableName })] : []
    }),
  )
}
