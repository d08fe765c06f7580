// Tokens that a person has for the management API: a script with one acts as this person.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { moment, until } from '../../format.ts'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { TokenShownOnce } from '../../views/token-shown-once.tsx'

const DAY_SECONDS = 86_400

export function PersonalTokens() {
  const queries = useQueryClient()
  const query = useLoad('account.manageTokens')
  const [isOpen, setOpen] = useState(false)
  const refresh = () => queries.invalidateQueries({ queryKey: ['account.manageTokens'] })
  const remove = async (id: number) => {
    await api.call('account.deleteManageToken', { path: { id: String(id) } })
    await refresh()
    toast('The token is revoked.')
  }
  return (
    <section className="card" aria-labelledby="personal-tokens">
      <header>
        <h2 id="personal-tokens">Personal tokens</h2>
        <ActButton needs="account.createManageToken" className="button small push" onClick={() => setOpen(true)}>
          New personal token
        </ActButton>
      </header>
      <p className="inset soft">
        For scripts that manage projects, people and the stack. Such a script may do what you may. Tokens of a project are on the
        page Tokens.
      </p>
      <Loaded query={query}>
        {(tokens) =>
          tokens.length === 0 ? (
            <p className="inset mute">You have no personal token.</p>
          ) : (
            <ListTable label="Personal tokens" columns={['What it is for', 'Created', 'Expires', { hidden: 'Revoke' }]}>
              {tokens.map(({ id, description, created, expires }) => (
                <tr key={id}>
                  <td className="medium">{description}</td>
                  <td className="nowrap">{moment(created)}</td>
                  <td className="nowrap">{expires === null ? 'never' : until(expires)}</td>
                  <td>
                    <ConfirmButton
                      label="Revoke"
                      name={description}
                      needs="account.deleteManageToken"
                      className="button small danger"
                      ariaLabel={`Revoke ${description}`}
                      effect={<p>Scripts that use it are refused at once. A revoked token cannot be restored.</p>}
                      act={() => remove(id)}
                    />
                  </td>
                </tr>
              ))}
            </ListTable>
          )
        }
      </Loaded>
      {isOpen ? (
        <NewToken
          onClose={() => {
            setOpen(false)
            void refresh()
          }}
        />
      ) : null}
    </section>
  )
}

function NewToken({ onClose }: { onClose: () => void }) {
  const [description, setDescription] = useState('')
  const [days, setDays] = useState('90')
  const create = useMutation({
    mutationFn: () =>
      api.call('account.createManageToken', {
        body: { description, ...(days === '' ? {} : { expiresIn: Number(days) * DAY_SECONDS }) },
      }),
  })
  const token = create.data?.token
  if (token !== undefined) return <TokenShownOnce title="The new personal token" token={token} onClose={onClose} />
  return (
    <Dialog title="New personal token" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <Field label="What it is for">
          {(id) => (
            <input
              className="input"
              id={id}
              required
              value={description}
              onChange={({ target }) => setDescription(target.value)}
            />
          )}
        </Field>
        <Field label="Expires after">
          {(id) => (
            <select className="input" id={id} value={days} onChange={({ target }) => setDays(target.value)}>
              <option value="1">1 day</option>
              <option value="90">90 days</option>
              <option value="365">a year</option>
              <option value="">never</option>
            </select>
          )}
        </Field>
        {create.error ? <Problem error={create.error} /> : null}
        <button type="submit" className="button primary" disabled={create.isPending}>
          Create the token
        </button>
      </Form>
    </Dialog>
  )
}
