import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { File as StoredFile } from '../../../client/src/operations.ts'
import { moment, zone } from '../format.ts'
import { CopyButton } from '../parts/copy.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import './views.css'

const LIVES: readonly (readonly [number, string])[] = [
  [3600, 'an hour'],
  [86_400, 'a day'],
  [604_800, 'a week'],
]

/** A link needs no sign-in: it is created on request and shows when it expires. */
export function FileLink({ file }: { file: StoredFile }) {
  const [seconds, setSeconds] = useState(3600)
  const make = useMutation({
    mutationFn: async () => {
      const { url } = await api.call('files.get', { path: { id: String(file.id) }, query: { linkSeconds: seconds } })
      return { url, until: new Date(Date.now() + seconds * 1000).toISOString() }
    },
  })
  return (
    <section className="stack-2" aria-label="Link">
      <div className="flex-row wrap">
        <label className="flex-row">
          <span className="mute">A link that works for</span>
          <select className="input small" value={seconds} onChange={(event) => setSeconds(Number(event.target.value))}>
            {LIVES.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" className="button small" disabled={make.isPending} onClick={() => make.mutate()}>
          Create a link
        </button>
      </div>
      {make.error ? <Problem error={make.error} /> : null}
      {make.data ? (
        <div className="note good" role="status">
          <div className="grow stack-2">
            <p>
              Anyone with this link can download {file.isSliced ? 'the manifest' : 'the file'} until {moment(make.data.until)}{' '}
              {zone}, without signing in.
            </p>
            <code className="code sunken wrap link-text">{make.data.url}</code>
          </div>
          <CopyButton text={make.data.url} label="Copy the link" />
        </div>
      ) : null}
    </section>
  )
}
