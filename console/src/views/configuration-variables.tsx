// Variables: names in double braces that a configuration uses, and the values that a run puts in their place.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { parsed, setAt, valueIn } from '../document/json-text.ts'
import { WRITERS } from '../facts/deliveries.ts'
import {
  type ConfigurationPlace,
  type LoadedConfiguration,
  readConfiguration,
  useConfiguration,
} from '../facts/use-configuration.ts'
import { Lines, Loaded } from '../load.tsx'
import { ActButton } from '../parts/act-button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import { toast } from '../shell/toast.tsx'

const VARIABLES = 'keboola.variables'

/** Names in double braces, without those of the vault. Where a writer uses no variables, they are columns of its tables. */
export function usedNames({ root, rows }: LoadedConfiguration, componentId: string): readonly string[] {
  if (WRITERS.has(componentId) && valueIn(parsed(root.text), ['variables_id']) === undefined) return []
  const texts = [root.text, ...[...rows.values()].map(({ text }) => text)]
  const names = texts.flatMap((text) => [...text.matchAll(/\{\{\{?\s*([A-Za-z_][\w-]*)\s*\}?\}\}/g)].map(([, name]) => name!))
  return [...new Set(names)]
}

export function VariablesTab({ place, loaded }: { place: ConfigurationPlace; loaded: LoadedConfiguration }) {
  const document = parsed(loaded.root.text)
  const id = valueIn(document, ['variables_id'])
  const used = usedNames(loaded, place.componentId)
  if (typeof id !== 'string' && typeof id !== 'number')
    return <NoVariables place={place} used={used} name={loaded.configuration.name} />
  return <Values place={place} variablesId={String(id)} valuesId={valueIn(document, ['variables_values_id'])} used={used} />
}

function NoVariables({ place, used, name }: { place: ConfigurationPlace; used: readonly string[]; name: string }) {
  const queries = useQueryClient()
  const make = useMutation({
    mutationFn: async () => {
      const variables = used.map((one) => ({ name: one, type: 'string' }))
      const made = await api.call('configurations.create', {
        path: { componentId: VARIABLES },
        body: { name: `Variables of ${name}`, configuration: { variables } },
      })
      const row = await api.call('rows.create', {
        path: { componentId: VARIABLES, configurationId: made.id },
        body: { name: 'Default values', configuration: { values: used.map((one) => ({ name: one, value: '' })) } },
      })
      const { root } = await readConfiguration(place)
      const text = setAt(setAt(root.text, ['variables_id'], made.id), ['variables_values_id'], row.id)
      await api.call('configurations.update', {
        path: place,
        body: { configuration: text, changeDescription: 'Variables added' },
        headers: { 'if-match': `"${root.version}"` },
      })
    },
    onSuccess: () => queries.invalidateQueries(),
  })
  return (
    <section className="card" aria-label="Variables">
      <div className="empty stack-3">
        <p className="body-text soft">
          {used.length === 0
            ? 'Write a name in double braces, such as {{ day }}, and a run puts the value of the variable there.'
            : `It uses ${used.join(', ')}, which ${used.length === 1 ? 'has no value' : 'have no values'} yet.`}
        </p>
        <ActButton
          needs="configurations.create"
          className="button primary"
          disabled={make.isPending}
          onClick={() => make.mutate()}
        >
          Add variables
        </ActButton>
        {make.error ? <Problem error={make.error} /> : null}
      </div>
    </section>
  )
}

interface Value {
  readonly name: string
  readonly value: string
}

function Values({
  place,
  variablesId,
  valuesId,
  used,
}: {
  place: ConfigurationPlace
  variablesId: string
  valuesId: unknown
  used: readonly string[]
}) {
  const query = useConfiguration({ componentId: VARIABLES, configurationId: variablesId })
  return (
    <Loaded query={query} skeleton={<Lines count={4} />}>
      {(loaded) => (
        <ValueTable
          key={`${loaded.configuration.version} ${String(valuesId)}`}
          place={place}
          variables={loaded}
          rowId={valuesId === undefined ? loaded.configuration.rows[0]?.id : String(valuesId)}
          used={used}
        />
      )}
    </Loaded>
  )
}

const listOf = (document: unknown, key: string): readonly unknown[] => {
  const value = valueIn(document, [key])
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

function ValueTable({
  place,
  variables,
  rowId,
  used,
}: {
  place: ConfigurationPlace
  variables: LoadedConfiguration
  rowId: string | undefined
  used: readonly string[]
}) {
  const queries = useQueryClient()
  const row = rowId === undefined ? undefined : variables.rows.get(rowId)
  const stored = listOf(parsed(row?.text ?? '{}'), 'values')
  const storedValue = (name: string): string => {
    const entry = stored.find((one) => valueIn(one, ['name']) === name)
    return String(valueIn(entry, ['value']) ?? '')
  }
  const declared = listOf(parsed(variables.root.text), 'variables').map((one) => String(valueIn(one, ['name'])))
  const [values, setValues] = useState<readonly Value[]>(() => declared.map((name) => ({ name, value: storedValue(name) })))
  const [added, setAdded] = useState('')
  const missing = used.filter((name) => !values.some((one) => one.name === name))
  const save = useMutation({
    mutationFn: async () => {
      const path = { componentId: VARIABLES, configurationId: variables.configuration.id }
      const names = values.map(({ name }) => ({ name, type: 'string' }))
      await api.call('configurations.update', {
        path,
        body: { configuration: setAt(variables.root.text, ['variables'], names), changeDescription: 'Variables changed' },
        headers: { 'if-match': `"${variables.root.version}"` },
      })
      if (rowId !== undefined && row) {
        await api.call('rows.update', {
          path: { ...path, rowId },
          body: { configuration: setAt(row.text, ['values'], values), changeDescription: 'Values changed' },
        })
        return
      }
      const made = await api.call('rows.create', { path, body: { name: 'Default values', configuration: { values } } })
      const { root } = await readConfiguration(place)
      await api.call('configurations.update', {
        path: place,
        body: { configuration: setAt(root.text, ['variables_values_id'], made.id), changeDescription: 'Values chosen' },
        headers: { 'if-match': `"${root.version}"` },
      })
    },
    onSuccess: async () => {
      await queries.invalidateQueries()
      toast('The variables are saved.')
    },
  })
  const add = (name: string) => {
    if (name !== '' && !values.some((one) => one.name === name)) setValues([...values, { name, value: '' }])
    setAdded('')
  }
  return (
    <section className="card" aria-label="Variables">
      <header>
        <h2>Variables</h2>
        <span className="fine mute">values of a run that is given none</span>
        <ActButton
          needs="configurations.update"
          className="button small primary push"
          disabled={save.isPending}
          onClick={() => save.mutate()}
        >
          Save the variables
        </ActButton>
      </header>
      {save.error ? <Problem error={save.error} /> : null}
      {missing.length > 0 ? (
        <div className="inset">
          <div className="note warn">
            <Icon name="st-warn" />
            <p className="grow">{missing.join(', ')}: used, without a value.</p>
            <button
              type="button"
              className="button small"
              onClick={() => setValues([...values, ...missing.map((name) => ({ name, value: '' }))])}
            >
              Add {missing.length === 1 ? 'it' : 'them'}
            </button>
          </div>
        </div>
      ) : null}
      <div className="inset entries">
        {values.map(({ name, value }, index) => (
          <div key={name} className="entry-row">
            <span className="mono">
              {name}
              {used.includes(name) ? null : <span className="tag-label">not used</span>}
            </span>
            <input
              className="input mono"
              aria-label={`Value of ${name}`}
              value={value}
              onChange={(event) => setValues(values.with(index, { name, value: event.target.value }))}
            />
            <button
              type="button"
              className="button icon ghost small"
              aria-label={`Remove ${name}`}
              onClick={() => setValues(values.filter((one) => one.name !== name))}
            >
              <Icon name="x" size="small" />
            </button>
          </div>
        ))}
        <form
          className="flex-row"
          onSubmit={(event) => {
            event.preventDefault()
            add(added.trim())
          }}
        >
          <input
            className="input mono"
            aria-label="New variable"
            placeholder="name"
            value={added}
            onChange={(event) => setAdded(event.target.value)}
          />
          <button type="submit" className="button small" disabled={added.trim() === ''}>
            Add a variable
          </button>
        </form>
      </div>
    </section>
  )
}
