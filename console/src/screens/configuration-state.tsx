// What a configuration remembers from run to run: look at it, change it, start from the beginning.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import type { Configuration } from '../../../client/src/operations.ts'
import { parsed } from '../document/json-text.ts'
import { LazyJsonEditor } from '../editor/lazy.ts'
import { Lines } from '../load.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import { toast } from '../shell/toast.tsx'
import type { ConfigurationPlace } from './use-configuration.ts'

interface Owner {
  readonly rowId: string | undefined
  readonly name: string
  readonly state: unknown
}

export function StateTab({ place, configuration }: { place: ConfigurationPlace; configuration: Configuration }) {
  const owners: readonly Owner[] = [
    { rowId: undefined, name: 'Root', state: configuration.state },
    ...configuration.rows.map((row) => ({ rowId: row.id, name: row.name || row.id, state: row.state })),
  ]
  return (
    <div className="stack4">
      <p className="mute">
        What the last good run left for the next one: where it stopped, when it started. A run that fails changes nothing here.
      </p>
      {owners.map((owner) => (
        <StateCard key={`${owner.rowId} ${JSON.stringify(owner.state)}`} place={place} owner={owner} />
      ))}
    </div>
  )
}

function StateCard({ place, owner }: { place: ConfigurationPlace; owner: Owner }) {
  const queries = useQueryClient()
  const saved = textOf(owner.state)
  const [text, setText] = useState(saved)
  const put = (state: unknown): Promise<unknown> =>
    owner.rowId === undefined
      ? api.call('configurations.setState', { path: place, body: { state } })
      : api.call('rows.setState', { path: { ...place, rowId: owner.rowId }, body: { state } })
  const save = useMutation({
    mutationFn: (state: unknown) => put(state),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['configurations.get'] })
      toast(`The state of ${owner.name} is saved.`, async () => {
        await put(owner.state)
        await queries.invalidateQueries({ queryKey: ['configurations.get'] })
      })
    },
  })
  const isEmpty = saved === '{}'
  return (
    <section className="card" aria-label={`State of ${owner.name}`}>
      <header>
        <h2>{owner.name}</h2>
        {isEmpty ? <span className="xs mute">remembers nothing: the next run begins from the start</span> : null}
        <span className="push row">
          {isEmpty ? null : (
            <button type="button" className="btn sm" disabled={save.isPending} onClick={() => save.mutate({})}>
              Begin from the start
            </button>
          )}
          {text === saved ? null : (
            <button
              type="button"
              className="btn sm pri"
              disabled={save.isPending || parsed(text) === undefined}
              onClick={() => save.mutate(parsed(text))}
            >
              Save the state
            </button>
          )}
        </span>
      </header>
      {save.error ? <Problem error={save.error} /> : null}
      <Suspense fallback={<Lines count={3} />}>
        <LazyJsonEditor label={`State of ${owner.name} as JSON`} text={saved} onChange={setText} />
      </Suspense>
    </section>
  )
}

const textOf = (state: unknown): string => (Array.isArray(state) && state.length === 0 ? '{}' : JSON.stringify(state, null, 2))
