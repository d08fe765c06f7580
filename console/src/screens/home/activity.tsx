// What people did last in the project. What programs log and what was only read is not among it.

import { moment } from '../../format.ts'
import { useLoad } from '../../load.tsx'

const SHOWN = 5
const LOOKED_AT = 100
/** Reading leaves events, too, and a load one when it begins. */
const CHANGE =
  /(Created|Updated|Changed|Deleted|Purged|Restored|RolledBack|Copied|Saved|Added|Enabled|Disabled|Joined|Invited|ImportDone|Merged|MetadataSet|Fired)$/
const NOISE = 'NOT event:storage.tableDetail'

/** Answers have more members than their schema. */
interface ProjectEvent {
  readonly id: number | string
  readonly event: string
  readonly message: string
  readonly created: string
  readonly token?: { readonly id: number | string; readonly name: string }
}

export function Activity() {
  const tokens = useLoad('tokens.list', { query: { ofPeople: true, onlyGivenBuckets: true } }).data
  const events = (useLoad('events.list', { query: { limit: LOOKED_AT, component: 'storage', q: NOISE } }).data ??
    []) as readonly unknown[] as readonly ProjectEvent[]
  const people = new Set((tokens ?? []).flatMap(({ id, admin }) => (admin ? [id] : [])))
  const shown = events.filter(({ event, token }) => CHANGE.test(event) && token && people.has(String(token.id))).slice(0, SHOWN)
  if (shown.length === 0) return null
  return (
    <section className="card" aria-labelledby="activity">
      <header>
        <h2 id="activity">What people did</h2>
      </header>
      <ul className="list">
        {shown.map(({ id, message, created, token }) => (
          <li key={id}>
            <div className="grow">
              <p className="said">{message}</p>
              <p className="fine mute">
                {token?.name}, {moment(created)}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
