// The data contract of a table, and the search for the load that broke it.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { DataContract, DataTest, Table } from '../../../../../client/src/operations.ts'
import { finishStorageJob } from '../../../facts/storage-job.ts'
import { moment, plural } from '../../../format.ts'
import { Teach } from '../../../listing.tsx'
import { Lines, Loaded, useLoad } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { ConfirmButton } from '../../../parts/confirm.tsx'
import { Field } from '../../../parts/field.tsx'
import { Form } from '../../../parts/form.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { TextField } from '../../../parts/text-field.tsx'
import { api } from '../../../session.ts'
import { toast } from '../../../shell/toast.tsx'

export function TableContract({ table }: { table: Table }) {
  const contract = useLoad('dataContracts.get', { path: { tableId: table.id } })
  return (
    <section className="card" aria-labelledby="contract">
      <header>
        <h2 id="contract">Data contract</h2>
      </header>
      <Loaded query={contract} skeleton={<Lines />}>
        {(found) => <ContractForm key={found.updated ?? 'draft'} found={found} />}
      </Loaded>
    </section>
  )
}

function ContractForm({ found }: { found: DataContract }) {
  const { tableId, isDraft, checks, notChecked } = found
  const [text, setText] = useState(found.contract)
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: ['dataContracts.get'] })
  const save = useMutation({
    mutationFn: () => api.call('dataContracts.save', { path: { tableId }, body: { contract: text } }),
    onSuccess: async () => {
      await refresh()
      toast('The contract is imported. The next load is checked against it.')
    },
  })
  const remove = async () => {
    await api.call('dataContracts.remove', { path: { tableId } })
    await refresh()
    toast('The contract is deleted.')
  }
  return (
    <>
      <Form onSubmit={() => save.mutate()}>
        {isDraft ? (
          <Teach>
            No contract yet. This draft describes the table as it is; import it, changed or not, and loads that break it are not
            published.
          </Teach>
        ) : (
          <p>
            {plural(checks.length, 'check')} in every load.
            {notChecked.length > 0 ? ` Not checked: ${notChecked.join('; ')}.` : ''}
          </p>
        )}
        <Field label="Contract as YAML (ODCS)">
          {(id) => (
            <textarea
              className="input mono"
              id={id}
              rows={16}
              spellCheck={false}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        {save.error ? <Problem error={save.error} /> : null}
        <ActButton needs="dataContracts.save" type="submit" className="button primary" disabled={save.isPending || text === ''}>
          Import the contract
        </ActButton>
      </Form>
      {isDraft ? null : (
        <ConfirmButton
          label="Delete"
          name="contract"
          ariaLabel="Delete the contract"
          needs="dataContracts.remove"
          effect={<p>Loads are no longer checked against it.</p>}
          act={remove}
        />
      )}
    </>
  )
}

interface Bisected {
  readonly status: string
  readonly message: string
  readonly states: number
  readonly checks: number
  readonly firstBad?: { readonly time: string }
  readonly cause?: {
    readonly event: string
    readonly token: string
    readonly jobId: string | null
    readonly componentId: string | null
    readonly configurationId: string | null
    readonly configurationVersion: number | null
    /** Of an extraction with a recording. */
    readonly answer: { readonly fileId: string; readonly line: number; readonly method: string; readonly url: string } | null
  } | null
}

export function FindTheLoad({ table, tests }: { table: Table; tests: readonly DataTest[] }) {
  const tableId = table.id
  const [goodAt, setGoodAt] = useState('-1 day')
  const usable = tests.filter(({ type }) => type !== 'usual')
  const [testId, setTestId] = useState(usable[0]?.id ?? '')
  const chosen = testId || (usable[0]?.id ?? '')
  const search = useMutation({
    mutationFn: async () => {
      const job = await api.call('tables.bisect', { path: { tableId }, body: { goodAt, testId: chosen } })
      return (await finishStorageJob(job)).results as unknown as Bisected // of a job that bisects
    },
  })
  if (usable.length === 0) return null
  return (
    <section className="card" aria-labelledby="find-the-load">
      <header>
        <h2 id="find-the-load">Find the load that broke it</h2>
      </header>
      <Form onSubmit={() => search.mutate()}>
        <Field label="Test that fails now">
          {(id) => (
            <select className="input" id={id} value={chosen} onChange={(event) => setTestId(event.target.value)}>
              {usable.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <TextField label="When it held" value={goodAt} onChange={setGoodAt} />
        {search.error ? <Problem error={search.error} /> : null}
        <ActButton needs="tables.bisect" type="submit" className="button" disabled={search.isPending || goodAt === ''}>
          Find the load
        </ActButton>
        {search.data ? <Found found={search.data} /> : null}
      </Form>
    </section>
  )
}

function Found({ found: { status, message, states, checks, firstBad, cause } }: { found: Bisected }) {
  if (status !== 'found' || !firstBad) return <p>{message}</p>
  const by = cause?.jobId
    ? `job ${cause.jobId} of ${cause.componentId}/${cause.configurationId}, version ${cause.configurationVersion}`
    : (cause?.token ?? 'an unknown token')
  return (
    <p>
      Broken since {moment(firstBad.time)} by {cause?.event ?? 'an unknown change'}, {by}: {message}
      {cause?.answer && (
        <span className="block">
          In the answer to {cause.answer.method} {cause.answer.url}, line {cause.answer.line} of the recording in file{' '}
          {cause.answer.fileId}.
        </span>
      )}
      <span className="fine mute block">
        {plural(checks, 'check')} over {plural(states, 'state')}.
      </span>
    </p>
  )
}
