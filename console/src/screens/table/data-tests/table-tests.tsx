// Data tests of a table: what must be true of it, and what the last runs found.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { DataTest, DataTestRun, Table } from '../../../../../client/src/operations.ts'
import { type Filled, parametersOf, problemOf, requirement, TEST_TYPES, type TestType } from '../../../facts/data-tests.ts'
import { finishStorageJob } from '../../../facts/storage-job.ts'
import { count, moment, plural } from '../../../format.ts'
import { Teach } from '../../../listing.tsx'
import { Lines, Loaded, useLoad } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { ConfirmButton } from '../../../parts/confirm.tsx'
import { Editable } from '../../../parts/editable.tsx'
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
import { TestFields } from './test-fields.tsx'
import '../table.css'

const SEVERITIES = { stop: 'the load stops', warn: 'a warning' } as const
type Severity = keyof typeof SEVERITIES

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
    mutationFn: (body: { readonly isEnabled?: boolean; readonly severity?: Severity }) =>
      api.call('dataTests.update', { path: { testId: id }, body }),
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
      <td className="said">{requirement(type, parameters)}</td>
      <td>
        {isEnabled && type !== 'dbt' ? (
          <Editable needs="dataTests.update">
            <select
              className="input small"
              aria-label={`If ${name} fails`}
              value={severity}
              disabled={change.isPending}
              onChange={(event) => change.mutate({ severity: event.target.value as Severity })}
            >
              {Object.entries(SEVERITIES).map(([one, words]) => (
                <option key={one} value={one}>
                  {words}
                </option>
              ))}
            </select>
          </Editable>
        ) : isEnabled ? (
          SEVERITIES[severity as Severity]
        ) : (
          'switched off'
        )}
      </td>
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
  const [name, setName] = useState('')
  const [type, setType] = useState<TestType>('notNull')
  const [filled, setFilled] = useState<Filled>({})
  const [severity, setSeverity] = useState<Severity>('stop')
  const refresh = useRefresh()
  const problem = problemOf(type, filled)
  const create = useMutation({
    mutationFn: () =>
      api.call('dataTests.create', {
        body: { tableId: table.id, name, type, severity, parameters: parametersOf(type, filled) },
      }),
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
              setType(event.target.value as TestType) // one of the options
              setFilled({})
            }}
          >
            {Object.entries(TEST_TYPES).map(([one, { name: said }]) => (
              <option key={one} value={one}>
                {said}
              </option>
            ))}
          </select>
        )}
      </Field>
      <TestFields
        key={type}
        type={type}
        columns={table.columns ?? []}
        filled={filled}
        onFill={(field, value) => setFilled((before) => ({ ...before, [field]: value }))}
      />
      <Field label="If it fails">
        {(id) => (
          <select className="input" id={id} value={severity} onChange={(event) => setSeverity(event.target.value as Severity)}>
            <option value="stop">the load stops, the table stays as it was</option>
            <option value="warn">the load is published with a warning</option>
          </select>
        )}
      </Field>
      {create.error ? <Problem error={create.error} /> : null}
      <p className="hint" role="status">
        {problem ?? `${requirement(type, parametersOf(type, filled))}.`}
      </p>
      <span className="flex-row">
        <ActButton
          needs="dataTests.create"
          type="submit"
          className="button primary"
          disabled={create.isPending || name === '' || problem !== undefined}
        >
          Create the test
        </ActButton>
        <button type="button" className="button ghost" onClick={onDone}>
          Cancel
        </button>
      </span>
    </Form>
  )
}

const STATUS: Readonly<Record<string, string>> = { passed: 'success', warning: 'warning', failed: 'error' }

function resultItem({ id, status, trigger, endedAt, rowsCount, results }: DataTestRun) {
  const failed = results.filter((one) => one.status !== 'passed')
  return (
    <li key={id} className="test-result">
      <Status
        status={STATUS[status] ?? status}
        text={failed.length === 0 ? 'Passed' : `${plural(failed.length, 'test')} failed`}
      />
      <span className="mute fine">
        {moment(endedAt)}, {trigger === 'load' ? 'in a load' : 'on demand'}, {count(rowsCount)} rows,{' '}
        {plural(results.length, 'test')}
        {trigger === 'load' && status === 'failed' ? '; the load was not published' : ''}
      </span>
      {failed.map((one) => (
        <span key={one.testId} className="fine block">
          {one.name}: {one.message}
          {one.fileId === null ? null : (
            <>
              {' '}
              <Link to="/files" search={{ file: String(one.fileId) }}>
                Rows that failed
              </Link>
            </>
          )}
        </span>
      ))}
    </li>
  )
}
