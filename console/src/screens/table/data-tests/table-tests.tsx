// Data tests of a table: what must be true of it, and what the last runs found.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { DataTest, DataTestRun, Table } from '../../../../../client/src/operations.ts'
import { finishStorageJob } from '../../../facts/storage-job.ts'
import { count, moment, plural } from '../../../format.ts'
import { Teach } from '../../../listing.tsx'
import { Lines, Loaded, useLoad } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { ConfirmButton } from '../../../parts/confirm.tsx'
import { Field } from '../../../parts/field.tsx'
import { Form } from '../../../parts/form.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { ListTable } from '../../../parts/list-table.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { Status } from '../../../parts/status.tsx'
import { TextField } from '../../../parts/text-field.tsx'
import { api } from '../../../session.ts'
import { toast } from '../../../shell/toast.tsx'
import { FindTheLoad, TableContract } from './table-contract.tsx'
import '../table.css'

/** What the parameters of each type look like. */
const TYPES = {
  notNull: { name: 'has a value', example: (column: string) => ({ columns: [column] }) },
  unique: { name: 'is unique', example: (column: string) => ({ columns: [column] }) },
  acceptedValues: { name: 'has one of these values', example: (column: string) => ({ column, values: ['a', 'b'] }) },
  range: { name: 'lies in a range', example: (column: string) => ({ column, min: 0, max: 100 }) },
  pattern: { name: 'matches a pattern', example: (column: string) => ({ column, pattern: '[0-9]+' }) },
  relationships: {
    name: 'exists in another table',
    example: (column: string) => ({ column, toTable: 'in.c-main.other', toColumn: 'id' }),
  },
  rowCount: { name: 'number of rows', example: () => ({ min: 1 }) },
  usual: { name: 'is as usual', example: () => ({ measure: 'rows', sensitivity: 3 }) },
  freshness: { name: 'is fresh', example: () => ({ maxAgeMinutes: 1440 }) },
  schema: { name: 'has these columns', example: (column: string) => ({ columns: [{ name: column }], allowsOtherColumns: true }) },
  sql: { name: 'a query returns no rows', example: () => ({ sql: 'SELECT * FROM ... WHERE ...' }) },
} as const
type TypeName = keyof typeof TYPES

export function TableTests({ table }: { table: Table }) {
  const tableId = table.id
  const tests = useLoad('dataTests.list', { query: { tableId, limit: 1000 } })
  const runs = useLoad('dataTests.runs', { path: { tableId }, query: { limit: 10 } })
  const [isAdding, setAdding] = useState(false)
  const refresh = useRefresh()
  const run = useMutation({
    mutationFn: async () => finishStorageJob(await api.call('dataTests.run', { path: { tableId } })),
    onSuccess: refresh,
  })
  return (
    <div className="columns">
      <section className="card" aria-labelledby="data-tests">
        <header className="wrap">
          <h2 id="data-tests">Data tests</h2>
          <span className="flex-row push">
            <ActButton needs="dataTests.run" className="button small" disabled={run.isPending} onClick={() => run.mutate()}>
              <Icon name="play" size="small" />
              <span>Run now</span>
            </ActButton>
            <ActButton needs="dataTests.create" className="button small" onClick={() => setAdding(!isAdding)}>
              Add a test
            </ActButton>
          </span>
        </header>
        {run.error ? <Problem error={run.error} /> : null}
        {isAdding ? <NewTest table={table} onDone={() => setAdding(false)} /> : null}
        <Loaded query={tests} skeleton={<Lines />}>
          {(list) =>
            list.length === 0 ? (
              <Teach>
                A test states what must be true of the rows. It runs in every load, before the rows are visible: a load that fails
                it leaves the table as it was.
              </Teach>
            ) : (
              <ListTable label="Data tests" columns={['Name', 'Test', 'If it fails', { hidden: 'Change' }]}>
                {list.map((one) => (
                  <TestRow key={one.id} test={one} />
                ))}
              </ListTable>
            )
          }
        </Loaded>
      </section>
      <section className="card" aria-labelledby="test-results">
        <header>
          <h2 id="test-results">Results</h2>
        </header>
        <Loaded query={runs} skeleton={<Lines />}>
          {(list) => (list.length === 0 ? <Teach>No test has run yet.</Teach> : <ul className="list">{list.map(resultItem)}</ul>)}
        </Loaded>
      </section>
      <FindTheLoad table={table} tests={tests.data ?? []} />
      <TableContract table={table} />
    </div>
  )
}

function useRefresh() {
  const queries = useQueryClient()
  return async () => {
    await queries.invalidateQueries({ queryKey: ['dataTests.list'] })
    await queries.invalidateQueries({ queryKey: ['dataTests.runs'] })
  }
}

function TestRow({ test }: { test: DataTest }) {
  const { id, name, type, parameters, severity, isEnabled } = test
  const refresh = useRefresh()
  const change = useMutation({
    mutationFn: (body: { readonly isEnabled: boolean }) => api.call('dataTests.update', { path: { testId: id }, body }),
    onSuccess: refresh,
  })
  const remove = async () => {
    await api.call('dataTests.remove', { path: { testId: id } })
    await refresh()
    toast('The test is deleted.')
  }
  return (
    <tr>
      <td>{name}</td>
      <td>
        {type}
        <span className="fine mute mono block clip">{JSON.stringify(parameters)}</span>
      </td>
      <td>{isEnabled ? (severity === 'stop' ? 'the load stops' : 'a warning') : 'switched off'}</td>
      <td>
        <span className="flex-row">
          <ActButton
            needs="dataTests.update"
            className="button small"
            aria-label={`${isEnabled ? 'Switch off' : 'Switch on'} ${name}`}
            disabled={change.isPending}
            onClick={() => change.mutate({ isEnabled: !isEnabled })}
          >
            {isEnabled ? 'Switch off' : 'Switch on'}
          </ActButton>
          <ConfirmButton
            label="Delete"
            name={`test ${name}`}
            ariaLabel={`Delete the test ${name}`}
            needs="dataTests.remove"
            effect={<p>Loads are no longer tested by it. Its results stay in the list of runs.</p>}
            act={remove}
          />
        </span>
        {change.error ? <Problem error={change.error} /> : null}
      </td>
    </tr>
  )
}

function NewTest({ table, onDone }: { table: Table; onDone: () => void }) {
  const column = table.columns?.[0] ?? 'id'
  const exampleOf = (type: TypeName) => JSON.stringify(TYPES[type].example(column))
  const [name, setName] = useState('')
  const [type, setType] = useState<TypeName>('notNull')
  const [parameters, setParameters] = useState(exampleOf('notNull'))
  const [severity, setSeverity] = useState<'stop' | 'warn'>('stop')
  const refresh = useRefresh()
  const value = readJson(parameters)
  const create = useMutation({
    mutationFn: () =>
      api.call('dataTests.create', { body: { tableId: table.id, name, type, severity, parameters: value ?? {} } }),
    onSuccess: async () => {
      await refresh()
      toast('The test is created. The next load is tested by it.')
      onDone()
    },
  })
  return (
    <Form onSubmit={() => create.mutate()}>
      <TextField label="Name of the test" value={name} onChange={setName} />
      <Field label="What is tested">
        {(id) => (
          <select
            className="input"
            id={id}
            value={type}
            onChange={(event) => {
              const chosen = event.target.value as TypeName // one of the options
              setType(chosen)
              setParameters(exampleOf(chosen))
            }}
          >
            {Object.entries(TYPES).map(([one, { name: said }]) => (
              <option key={one} value={one}>
                {one}: {said}
              </option>
            ))}
          </select>
        )}
      </Field>
      <TextField
        label="Parameters"
        value={parameters}
        onChange={setParameters}
        bad={value === undefined ? 'This is not a JSON object.' : undefined}
      />
      <Field label="If it fails">
        {(id) => (
          <select
            className="input"
            id={id}
            value={severity}
            onChange={(event) => setSeverity(event.target.value as 'stop' | 'warn')}
          >
            <option value="stop">the load stops, the table stays as it was</option>
            <option value="warn">the load is published with a warning</option>
          </select>
        )}
      </Field>
      {create.error ? <Problem error={create.error} /> : null}
      <ActButton
        needs="dataTests.create"
        type="submit"
        className="button primary"
        disabled={create.isPending || name === '' || value === undefined}
      >
        Create the test
      </ActButton>
    </Form>
  )
}

function readJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const STATUS: Readonly<Record<string, string>> = { passed: 'success', warning: 'warning', failed: 'error' }

function resultItem({ id, status, trigger, endedAt, rowsCount, results }: DataTestRun) {
  const failed = results.filter((one) => one.status !== 'passed')
  return (
    <li key={id}>
      <Status
        status={STATUS[status] ?? status}
        text={failed.length === 0 ? 'Passed' : `${plural(failed.length, 'test')} failed`}
      />{' '}
      <span className="mute">
        {moment(endedAt)}, {trigger === 'load' ? 'in a load' : 'on demand'}, {count(rowsCount)} rows,{' '}
        {plural(results.length, 'test')}
        {trigger === 'load' && status === 'failed' ? '; the load was not published' : ''}
      </span>
      {failed.map((one) => (
        <span key={one.testId} className="fine block">
          {one.name}: {one.message}
          {one.fileId === null ? '' : ` Rows: file ${one.fileId}.`}
        </span>
      ))}
    </li>
  )
}
