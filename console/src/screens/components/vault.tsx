// The vault: values that all configurations of the project can use. A secret can be replaced and is never shown.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import { plural } from '../../format.ts'
import { Listing } from '../../listing.tsx'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useRefusal } from '../../rights.ts'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'

type Variable = Answer<'vault.list'>[number]

const route = getRouteApi('/vault')
const SECRET = 'encrypted'
/** The maximum of a vault. */
const ALL = 1000
/** What the API accepts as the name of a variable. */
const NAMES = '[A-Za-z0-9_\\-]{1,255}'

const isSecret = ({ flags }: Variable): boolean => flags.includes(SECRET)
const usage = (key: string): string => `{{ vault.${key} }}`

export function VaultScreen() {
  const refusal = useRefusal('vault.list')
  return refusal === undefined ? <Vault /> : <NoVault refusal={refusal} />
}

const NoVault = ({ refusal }: { refusal: string }) => (
  <Page title="Vault" crumbs={[{ name: 'Vault' }]} say="The vault keeps secrets for configurations.">
    <section className="card">
      <div className="inset stack-2">
        <p className="body-text">Its variables are listed for those who may use them. {refusal}</p>
        <p className="soft">An admin of the project can change your role on the screen People.</p>
      </div>
    </section>
  </Page>
)

function Vault() {
  const query = useLoad('vault.list', { query: { limit: ALL } })
  const variables = query.data ?? []
  const { set } = route.useSearch()
  const navigate = useNavigate()
  const wanted = variables.find(({ key }) => key === set)
  return (
    <Page
      title="Vault"
      crumbs={[{ name: 'Vault' }]}
      say={query.data ? sentenceOf(variables) : 'Vault'}
      sub="A configuration uses a variable by its name in double braces; a run puts the value there. Secrets are encrypted and never shown."
      actions={
        <CreateButton label="New variable" needs="vault.save">
          {(close) => <SetVariable onClose={close} />}
        </CreateButton>
      }
    >
      <Listing
        label="Variables of the vault"
        query={query}
        count={variables.length}
        teach="Nothing is in the vault. Keep a password here once and use it in every configuration, as {{ vault.name }} in a # field."
      >
        <Variables variables={variables} />
      </Listing>
      {set !== undefined && query.data ? (
        <SetVariable
          key={set}
          name={set}
          variable={wanted}
          onClose={() => void navigate({ to: '/vault', search: {}, replace: true })}
        />
      ) : null}
    </Page>
  )
}

function sentenceOf(variables: readonly Variable[]): string {
  if (variables.length === 0) return 'The vault is empty.'
  const secrets = variables.filter(isSecret).length
  return `${plural(variables.length, 'variable')}, ${secrets === 0 ? 'none of them secret' : `${secrets} of them secret`}.`
}

function useSave(onDone: () => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: { key: string; value: string; flags: Variable['flags']; attributes: Variable['attributes'] }) =>
      api.call('vault.save', { body }),
    onSuccess: async (_, { key }) => {
      await queries.invalidateQueries({ queryKey: ['vault.list'] })
      toast(`${key} is set. The next run uses it.`)
      onDone()
    },
  })
}

function Variables({ variables }: { variables: readonly Variable[] }) {
  const queries = useQueryClient()
  const branches = useLoad('branches.list')
  const refresh = () => queries.invalidateQueries({ queryKey: ['vault.list'] })
  const remove = useMutation({
    mutationFn: ({ hash }: Variable) => api.call('vault.remove', { path: { hash } }),
    onSuccess: async (_, { key, value, flags, attributes }) => {
      await refresh()
      // What is listed of a secret is its cipher: it can be put back without being known.
      const undo = () => api.call('vault.save', { body: { key, value, flags, attributes } }).then(refresh)
      toast(`${key} is deleted. Runs that use it will fail.`, undo)
    },
  })
  const branchOf = ({ attributes: { branchId } }: Variable) =>
    branchId === undefined ? 'every branch' : (branches.data?.find(({ id }) => String(id) === branchId)?.name ?? branchId)
  return (
    <>
      {remove.error ? <Problem error={remove.error} /> : null}
      <ListTable label="Variables" columns={['Name', 'Value', 'Holds in', 'In a configuration', { hidden: 'Actions' }]}>
        {variables.map((variable) => (
          <tr key={variable.hash}>
            <td className="medium nowrap">{variable.key}</td>
            <td className="what clip">
              {isSecret(variable) ? <i className="null">encrypted</i> : <span className="mono">{variable.value}</span>}
            </td>
            <td className="nowrap">{branchOf(variable)}</td>
            <td className="nowrap">
              <span className="flex-row">
                <code className="identifier">{usage(variable.key)}</code>
                <CopyButton text={usage(variable.key)} />
              </span>
            </td>
            <td>
              <span className="flex-row">
                <ReplaceButton variable={variable} />
                <ActButton
                  needs="vault.remove"
                  className="button small danger"
                  aria-label={`Delete ${variable.key}`}
                  disabled={remove.isPending}
                  onClick={() => remove.mutate(variable)}
                >
                  Delete
                </ActButton>
              </span>
            </td>
          </tr>
        ))}
      </ListTable>
    </>
  )
}

function ReplaceButton({ variable }: { variable: Variable }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button small" aria-label={`Replace ${variable.key}`} onClick={() => setOpen(true)}>
        Replace
      </button>
      {isOpen ? <SetVariable variable={variable} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

interface SetProps {
  /** Of a new variable that is missing, as the report of a migration links to it. */
  readonly name?: string
  /** The one whose value is replaced. */
  readonly variable?: Variable | undefined
  readonly onClose: () => void
}

function SetVariable({ name = '', variable, onClose }: SetProps) {
  const [key, setKey] = useState(variable?.key ?? name)
  const [value, setValue] = useState('')
  const [isHidden, setHidden] = useState(variable ? isSecret(variable) : true)
  const save = useSave(onClose)
  const others = (variable?.flags ?? []).filter((flag) => flag !== SECRET)
  const flags: Variable['flags'] = isHidden ? [...others, SECRET] : others
  return (
    <Dialog title={variable ? `Replace ${variable.key}` : 'New variable'} onClose={onClose}>
      <Form
        onSubmit={() =>
          save.mutate({
            key,
            value,
            flags,
            attributes: variable?.attributes ?? {},
          })
        }
      >
        {variable ? null : (
          <Field label="Name" hint={key === '' ? 'Letters, digits, _ and -.' : `Configurations write ${usage(key)}.`}>
            {(id) => (
              <input
                className="input mono"
                id={id}
                required
                pattern={NAMES}
                value={key}
                onChange={(event) => setKey(event.target.value)}
              />
            )}
          </Field>
        )}
        <Field
          label="Value"
          hint={
            isHidden ? 'Encrypted before it is stored. It can be used in # fields only.' : 'Everyone in the project can read it.'
          }
        >
          {(id) => (
            <input
              className="input mono"
              id={id}
              required
              type={isHidden ? 'password' : 'text'}
              autoComplete="off"
              value={value}
              onChange={(event) => setValue(event.target.value)}
            />
          )}
        </Field>
        <label className="flex-row">
          <input type="checkbox" checked={isHidden} onChange={(event) => setHidden(event.target.checked)} />A secret
        </label>
        {variable ? <UsedIn name={variable.key} /> : null}
        <DialogEnd error={save.error} isPending={save.isPending} onClose={onClose}>
          {variable ? 'Replace the value' : 'Set the variable'}
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

/** Which configurations the new value will reach. */
function UsedIn({ name }: { name: string }) {
  const query = useLoad('configurations.browse', { query: { vaultVariable: name, limit: MAX_USERS + 1 } })
  return (
    <Loaded query={query} skeleton={<Lines count={1} />}>
      {(users) => {
        if (users.length === 0) return <p className="mute">No configuration uses it yet.</p>
        return (
          <p className="mute">
            The next run of these uses the new value:{' '}
            {users.slice(0, MAX_USERS).map(({ componentId, configurationId, name: user }, index) => (
              <span key={`${componentId} ${configurationId}`}>
                {index > 0 ? ', ' : ''}
                <Link to="/components/$componentId/$configurationId" params={{ componentId, configurationId }}>
                  {user}
                </Link>
              </span>
            ))}
            {users.length > MAX_USERS ? ' and others' : ''}.
          </p>
        )
      }}
    </Loaded>
  )
}

const MAX_USERS = 20
