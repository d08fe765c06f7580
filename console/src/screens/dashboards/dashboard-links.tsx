// Links to a dashboard: they show its results to anyone who has them, until they expire or are revoked.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Dashboard } from '../../../../client/src/operations.ts'
import { moment, until, zone } from '../../format.ts'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'

const LIVES: readonly (readonly [number, string])[] = [
  [86_400, 'a day'],
  [604_800, 'a week'],
  [30 * 86_400, '30 days'],
  [365 * 86_400, 'a year'],
]

/** Behind `#`: browsers send it to no server, and it stands in no log. */
const addressOf = (value: string): string => `${location.origin}/console/shared#${value}`

export function ShareDashboard({ dashboard: { id, name }, onClose }: { dashboard: Dashboard; onClose: () => void }) {
  const queries = useQueryClient()
  const path = { dashboardId: id }
  const links = useLoad('dashboards.links', { path })
  const [seconds, setSeconds] = useState(604_800)
  const refresh = () => queries.invalidateQueries({ queryKey: ['dashboards.links'] })
  const create = useMutation({
    mutationFn: () => api.call('dashboards.createLink', { path, body: { expiresIn: seconds } }),
    onSuccess: refresh,
  })
  const revoke = async (linkId: string) => {
    await api.call('dashboards.removeLink', { path: { ...path, linkId } })
    await refresh()
    create.reset()
    toast('The link is revoked.')
  }
  return (
    <Drawer title={`Share ${name}`} onClose={onClose}>
      <p className="body-text">
        Members of the project open it here. A link shows these results, and nothing else of the project, to anyone who has it,
        without signing in.
      </p>
      <Form className="form wide" onSubmit={() => create.mutate()}>
        <div className="flex-row wrap">
          <label className="flex-row">
            <span className="mute">A link that works for</span>
            <select className="input small" value={seconds} onChange={(event) => setSeconds(Number(event.target.value))}>
              {LIVES.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <ActButton needs="dashboards.createLink" type="submit" className="button small primary" disabled={create.isPending}>
            Create a link
          </ActButton>
        </div>
        {create.error ? <Problem error={create.error} /> : null}
        {create.data ? (
          <div className="stack-2">
            <p className="fine soft">
              It is shown once. Who has it sees the results until {moment(create.data.expires)}, {zone}.
            </p>
            <div className="flex-row">
              <code className="identifier grow">{addressOf(create.data.value)}</code>
              <CopyButton text={addressOf(create.data.value)} label="Copy the link" />
            </div>
          </div>
        ) : null}
      </Form>
      <Loaded query={links}>
        {(all) =>
          all.length === 0 ? (
            <p className="mute">It has no link.</p>
          ) : (
            <ul className="list" aria-label="Links">
              {all.map((link) => (
                <li key={link.id}>
                  <div className="grow">
                    <p>
                      {Date.parse(link.expires) < Date.now() ? 'expired' : 'works until'} {moment(link.expires)}
                      {Date.parse(link.expires) < Date.now() ? '' : `, ${until(link.expires)}`}
                    </p>
                    <p className="fine mute">
                      created {moment(link.created)} by {link.creatorToken.description}
                    </p>
                  </div>
                  <ConfirmButton
                    label="Revoke"
                    name={`the link until ${moment(link.expires)}`}
                    needs="dashboards.removeLink"
                    effect={<p>Who has the link sees nothing any more. It cannot be made valid again: create another one.</p>}
                    act={() => revoke(link.id)}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Drawer>
  )
}
