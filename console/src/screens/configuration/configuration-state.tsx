// What a configuration remembers from run to run: look at it, change it, start from the beginning.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { parsed } from '../../document/json-text.ts'
import { LazyJsonEditor } from '../../editor/lazy.ts'
import type { ConfigurationPlace, LoadedConfiguration } from '../../facts/use-configuration.ts'
import { Lines } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import './configuration.css'

interface Owner {
  readonly rowId: string | undefined
  readonly name: string
  /** As it is written: positions of APIs may be numbers that JavaScript does not hold. */
  readonly saved: string
}

export function StateTab({ place, loaded }: { place: ConfigurationPlace; loaded: LoadedConfiguration }) {
  const { configuration, states } = loaded
  const owners: readonly Owner[] = [
    { rowId: undefined, name: 'Root', saved: states.get(undefined)! },
    ...configuration.rows.map(({ id, name }) => ({ rowId: id, name: name || id, saved: states.get(id)! })),
  ]
  return (
    <div className="stack-4">
      <p className="mute">
        What the last good run left for the next one: where it stopped, when it started. A run that fails changes nothing here.
      </p>
      {owners.map((owner) => (
        <StateCard key={`${owner.rowId} ${owner.saved}`} place={place} owner={owner} />
      ))}
    </div>
  )
}

function StateCard({ place, owner }: { place: ConfigurationPlace; owner: Owner }) {
  const queries = useQueryClient()
  const { saved } = owner
  const [text, setText] = useState(saved)
  const put = (state: string): Promise<unknown> =>
    owner.rowId === undefined
      ? api.call('configurations.setState', { path: place, body: { state } })
      : api.call('rows.setState', { path: { ...place, rowId: owner.rowId }, body: { state } })
  const save = useMutation({
    mutationFn: put,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['configurations.get'] })
      toast(`The state of ${owner.name} is saved.`, async () => {
        await put(saved)
        await queries.invalidateQueries({ queryKey: ['configurations.get'] })
      })
    },
  })
  const isEmpty = saved === '{}'
  return (
    <section className="card" aria-label={`State of ${owner.name}`}>
      <header>
        <h2>{owner.name}</h2>
        {isEmpty ? <span className="fine mute">remembers nothing: the next run begins from the start</span> : null}
        <span className="push flex-row">
          {isEmpty ? null : (
            <ActButton
              needs="configurations.setState"
              className="button small"
              disabled={save.isPending}
              onClick={() => save.mutate('{}')}
            >
              Begin from the start
            </ActButton>
          )}
          {text === saved ? null : (
            <ActButton
              needs="configurations.setState"
              className="button small primary"
              disabled={save.isPending || parsed(text) === undefined}
              onClick={() => save.mutate(text)}
            >
              Save the state
            </ActButton>
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
