// Tokens: who may do what, until when. A new one is shown once.

import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Token } from '../../../../client/src/operations.ts'
import { useBucketIds, useSettled } from '../../facts/storage-names.ts'
import { count, moment, plural, until } from '../../format.ts'
import { ShowMore } from '../../listing.tsx'
import { Lines, Loaded } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { TokenShownOnce } from '../../views/token-shown-once.tsx'
import { BiAccess } from './bi-access.tsx'
import './access.css'

const PAGE = 100

export function TokensScreen() {
  const [filter, setFilter] = useState('')
  const text = useSettled(filter.trim())
  const query = useInfiniteQuery({
    queryKey: ['tokens.list', 'pages', text],
    queryFn: ({ pageParam, signal }) =>
      api.call('tokens.list', { query: { text, onlyGivenBuckets: true, limit: PAGE, offset: pageParam }, signal }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < PAGE ? undefined : pages.length * PAGE),
    placeholderData: (before) => before,
  })
  const tokens = (query.data?.pages ?? []).flat()
  const [isMany, setMany] = useState(false)
  if (!isMany && query.hasNextPage) setMany(true)
  return (
    <Page
      title="Tokens"
      crumbs={[{ name: 'Tokens' }]}
      say={query.data ? sentence(tokens.length, query.hasNextPage, text) : 'Tokens'}
      actions={
        <>
          <BiAccess />
          <CreateButton label="New token" needs="tokens.create">
            {(close) => <NewToken onClose={close} />}
          </CreateButton>
        </>
      }
    >
      <section className="card" aria-label="Tokens">
        {isMany ? (
          <div className="toolbar">
            <FilterField label="Filter by description" value={filter} onChange={setFilter} />
          </div>
        ) : null}
        <Loaded query={query} skeleton={<Lines />}>
          {() => (tokens.length === 0 ? <p className="inset mute">No matching tokens.</p> : <List tokens={tokens} />)}
        </Loaded>
        <ShowMore query={query} size={PAGE} />
      </section>
    </Page>
  )
}

function sentence(shown: number, isMore: boolean, text: string): string {
  if (isMore) return `The first ${count(shown)} tokens.`
  return text === '' ? `${plural(shown, 'token')} of this project.` : `${plural(shown, 'matching token')}.`
}

function List({ tokens }: { tokens: readonly Token[] }) {
  const queries = useQueryClient()
  const [changed, setChanged] = useState<Token>()
  const revoke = async (id: string) => {
    await api.call('tokens.delete', { path: { id } })
    await queries.invalidateQueries({ queryKey: ['tokens.list'] })
    toast('The token is revoked.')
  }
  return (
    <>
      <ListTable
        label="Tokens"
        columns={['Description', 'Permissions', 'Created', 'Last used', 'Expires', 'Id', { hidden: 'Actions' }]}
      >
        {tokens.map((token) => (
          <tr key={token.id}>
            <td className="medium nowrap">{token.description}</td>
            <td className="said">{token.isMasterToken ? 'everything' : scopeOf(token)}</td>
            <td className="nowrap">{moment(token.created)}</td>
            <td className="nowrap">{token.lastUsed ? moment(token.lastUsed) : 'never'}</td>
            <td className="nowrap">{token.expires === null ? 'never' : token.isExpired ? 'expired' : until(token.expires)}</td>
            <td className="identifier">{token.id}</td>
            <td>
              {token.admin ? null : (
                <span className="flex-row">
                  <ActButton
                    needs="tokens.update"
                    className="button small"
                    aria-label={`Change ${token.description}`}
                    onClick={() => setChanged(token)}
                  >
                    Change
                  </ActButton>
                  <ConfirmButton
                    label="Revoke"
                    name={token.description}
                    needs="tokens.delete"
                    className="button small danger"
                    ariaLabel={`Revoke ${token.description}`}
                    effect={
                      <>
                        <p>
                          Programs that use it are refused at once.{' '}
                          {token.lastUsed ? `It was last used ${moment(token.lastUsed)}.` : 'It was never used.'}
                        </p>
                        <p>A revoked token cannot be restored: such a program needs a new one.</p>
                      </>
                    }
                    act={() => revoke(token.id)}
                  />
                </span>
              )}
            </td>
          </tr>
        ))}
      </ListTable>
      {changed ? <ChangeToken token={changed} onClose={() => setChanged(undefined)} /> : null}
    </>
  )
}

function scopeOf({ bucketPermissions, componentAccess = [] }: Token): string {
  const buckets = Object.entries(bucketPermissions).map(([id, what]) => `${what} ${id}`)
  return [...buckets, ...componentAccess.map((id) => `use ${id}`)].join(', ') || 'nothing but itself'
}

const DAY_SECONDS = 86_400
/** So many are listed at a time. */
const MANY_BUCKETS = 50

type Scopes = Readonly<Record<string, string>>

interface TokenValues {
  readonly description: string
  readonly bucketPermissions: Scopes
}

/** What a token is for, and what it may do with each bucket. */
function TokenFields({ values, onChange }: { values: TokenValues; onChange: (values: TokenValues) => void }) {
  const [filter, setFilter] = useState('')
  const found = useBucketIds(filter)
  const [isMany, setMany] = useState(false)
  if (!isMany && found.length >= MANY_BUCKETS) setMany(true)
  const { bucketPermissions: chosen } = values
  const others = Object.keys(chosen).filter((id) => !found.includes(id)) // of other pages, or not listed for this person
  const allow = (id: string, what: string) =>
    onChange({
      ...values,
      bucketPermissions: Object.fromEntries(Object.entries({ ...chosen, [id]: what }).filter(([, one]) => one !== '')),
    })
  return (
    <>
      <div className="field">
        <Label htmlFor="description">What it is for</Label>
        <input
          className="input"
          id="description"
          required
          value={values.description}
          onChange={(event) => onChange({ ...values, description: event.target.value })}
        />
      </div>
      <fieldset className="plain stack-2 token-scopes">
        <legend className="label">Buckets</legend>
        {isMany || filter !== '' ? (
          <input
            className="input"
            type="search"
            aria-label="Filter buckets"
            placeholder="Filter buckets"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
        ) : null}
        {[...found, ...others].map((id) => (
          <label key={id} className="token-scope">
            <span className="identifier clip">{id}</span>
            <select className="input small" value={chosen[id] ?? ''} onChange={(event) => allow(id, event.target.value)}>
              <option value="">nothing</option>
              <option value="read">read</option>
              <option value="write">read and write</option>
              {chosen[id] === undefined || chosen[id] === 'read' || chosen[id] === 'write' ? null : <option>{chosen[id]}</option>}
            </select>
          </label>
        ))}
      </fieldset>
    </>
  )
}

function ChangeToken({ token, onClose }: { token: Token; onClose: () => void }) {
  const queries = useQueryClient()
  const before: TokenValues = { description: token.description, bucketPermissions: token.bucketPermissions }
  const [values, setValues] = useState(before)
  const write = async (body: TokenValues) => {
    await api.call('tokens.update', { path: { id: token.id }, body })
    await queries.invalidateQueries({ queryKey: ['tokens.list'] })
  }
  const save = useMutation({
    mutationFn: () => write(values),
    onSuccess: () => {
      toast('The token is changed.', () => write(before))
      onClose()
    },
  })
  return (
    <Dialog title={`Change: ${token.description}`} onClose={onClose}>
      <Form onSubmit={() => save.mutate()}>
        <TokenFields values={values} onChange={setValues} />
        <p className="hint">It holds from the next request on. The token itself and when it expires stay as they are.</p>
        <DialogEnd error={save.error} isPending={save.isPending} onClose={onClose}>
          Change the token
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

function NewToken({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [values, setValues] = useState<TokenValues>({ description: '', bucketPermissions: {} })
  const [days, setDays] = useState('7')
  const create = useMutation({
    mutationFn: () =>
      api.call('tokens.create', {
        body: {
          ...values,
          ...(days === '' ? {} : { expiresIn: Number(days) * DAY_SECONDS }),
        },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['tokens.list'] }),
  })
  if (create.data?.token) return <TokenShownOnce title="The new token" token={create.data.token} onClose={onClose} />
  return (
    <Dialog title="New token" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <TokenFields values={values} onChange={setValues} />
        <div className="field">
          <Label htmlFor="days">Expires after</Label>
          <select className="input" id="days" value={days} onChange={(event) => setDays(event.target.value)}>
            <option value="1">1 day</option>
            <option value="7">7 days</option>
            <option value="90">90 days</option>
            <option value="">never</option>
          </select>
        </div>
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Create the token
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
