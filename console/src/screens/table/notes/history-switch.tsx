// Whether every version of every row is kept as data, and how far that history is (docs/history.md).

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { Table } from '../../../../../client/src/operations.ts'
import { moment } from '../../../format.ts'
import { Lines, Loaded, useLoad } from '../../../load.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { Status } from '../../../parts/status.tsx'
import { useRefusal } from '../../../rights.ts'
import { api } from '../../../session.ts'
import { toast } from '../../../shell/toast.tsx'

/** While a state waits to be added, no live change reports when it was. */
const AGAIN_MS = 3000

export function HistorySwitch({ table }: { table: Table }) {
  const queries = useQueryClient()
  const id = useId()
  const path = { tableId: table.id }
  const refusal = useRefusal('tableHistory.set')
  const query = useLoad(
    'tableHistory.get',
    { path },
    { again: ({ isEnabled, isCurrent }) => (isEnabled && !isCurrent ? AGAIN_MS : false) },
  )
  const put = async (isEnabled: boolean) => {
    await api.call('tableHistory.set', { path, body: { isEnabled } })
    await queries.invalidateQueries({ queryKey: ['tableHistory.get'] })
  }
  /** What was clicked, until the answer is there. */
  const [wanted, setWanted] = useState<boolean>()
  const change = useMutation({
    mutationFn: put,
    onSettled: () => setWanted(undefined),
    onSuccess: (_, isEnabled) =>
      toast(isEnabled ? 'The history is kept from now on.' : 'The history is no longer kept. Its rows stay.', () =>
        put(!isEnabled),
      ),
  })
  return (
    <section className="card" aria-labelledby="row-history">
      <header>
        <h2 id="row-history">Versions of every row</h2>
      </header>
      <Loaded query={query} skeleton={<Lines count={2} />}>
        {({ isEnabled, isCurrent, historyTableId, updated, problem }) => (
          <div className="inset stack-3">
            <label className="check-line" htmlFor={id} title={refusal}>
              <input
                type="checkbox"
                id={id}
                checked={wanted ?? isEnabled}
                disabled={refusal !== undefined || change.isPending}
                aria-description={refusal}
                onChange={({ target }) => {
                  setWanted(target.checked)
                  change.mutate(target.checked)
                }}
              />
              Keep the history of the table
            </label>
            <p className="hint">
              Every load adds what it changed to a table of its own. SQL reads it as{' '}
              <code className="mono">{`table_history('${table.id}')`}</code>, with valid_from, valid_to and is_current.
            </p>
            {isEnabled ? (
              <p className="flex-row wrap">
                <Status
                  status={problem ? 'error' : isCurrent ? 'success' : 'processing'}
                  text={problem ? 'Cannot be added' : isCurrent ? 'Has the current state' : 'The current state is being added'}
                />
                {updated ? <span className="fine mute">updated {moment(updated)}</span> : null}
                {historyTableId ? (
                  <Link to="/storage/$tableId" params={{ tableId: historyTableId }}>
                    {historyTableId}
                  </Link>
                ) : null}
              </p>
            ) : null}
            {problem ? <p className="said failed">{problem}</p> : null}
            {change.error ? <Problem error={change.error} /> : null}
          </div>
        )}
      </Loaded>
    </section>
  )
}
