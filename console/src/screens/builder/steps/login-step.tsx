// How the extractor logs in: a form for each kind of login.

import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import {
  apiHeader,
  basicNames,
  CONFIG,
  expiryOf,
  headerLoginOf,
  LOGIN,
  LOGINS,
  loginOf,
  prefixAt,
  textAt,
  tokenHeaderOf,
  withExpiry,
  withLogin,
  withLoginHeader,
  withPrefix,
  withToken,
  withTokenHeader,
} from '../../../builder/extractor-document.ts'
import { type Path, parsed, valueIn } from '../../../document/json-text.ts'
import { NameInput, SecretInput } from '../../../editor/schema-form.tsx'
import { Field } from '../../../parts/field.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { TextField } from '../../../parts/text-field.tsx'
import type { OpenDocument } from '../../../views/configuration-documents.ts'
import { FromSchema } from './from-schema.tsx'
import { edit, type StepProps } from './step.ts'
import { Choose, Kinds, Params, Text } from './step-fields.tsx'
import '../builder.css'

export function LoginStep(props: StepProps) {
  const { root } = props
  const document = parsed(root.draft.text)
  const kind = loginOf(document)
  return (
    <>
      <Kinds
        label="How to log in"
        kinds={LOGINS}
        current={kind}
        onChoose={(id) => (id === kind ? undefined : root.draft.edit(withLogin(root.draft.text, id, root.draft.base.text)))}
      />
      {kind === 'basic' ? (
        <div className="two-fields">
          <Attribute owner={root} name={basicNames(document).user} label="User" />
          <Attribute owner={root} name={basicNames(document).password} label="Password" />
        </div>
      ) : null}
      {kind === 'header' ? <HeaderToken {...props} /> : null}
      {kind === 'client' ? (
        <div className="two-fields">
          <Text owner={root} path={[...LOGIN, 'loginRequest', 'endpoint']} label="Token address" placeholder="oauth/token" />
          <Text
            owner={root}
            path={[...LOGIN, 'loginRequest', 'params', 'scope']}
            label="Scope"
            placeholder="as the provider requires"
          />
          <Text owner={root} path={[...CONFIG, 'clientId']} label="Client id" />
          <Attribute owner={root} name="#clientSecret" label="Client secret" />
        </div>
      ) : null}
      {kind === 'login' || kind === 'oauth20.login' ? <LoginRequest {...props} /> : null}
      {kind === 'query' ? (
        <Params owner={root} secretOwner={root} path={[...LOGIN, 'query']} label="Added to every address" />
      ) : null}
      {kind === 'oauth20' ? (
        <>
          <Choose
            owner={root}
            path={[...LOGIN, 'format']}
            label="The account's token is"
            options={['json', 'text']}
            otherwise="text"
          />
          <Params owner={root} secretOwner={root} path={[...LOGIN, 'headers']} label="Headers of every request" />
          <Params owner={root} secretOwner={root} path={[...LOGIN, 'query']} label="Parameters of every request" />
        </>
      ) : null}
      {kind.startsWith('oauth') ? <AccountOf {...props} /> : null}
      {kind === 'none' || kind === 'header' || kind === 'basic' ? null : <AllSettings {...props} />}
    </>
  )
}

/** Whatever the forms above leave out; made when it is opened. */
function AllSettings(props: StepProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button small ghost" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Fewer settings' : 'All settings of this login'}
      </button>
      {isOpen ? <FromSchema {...props} base={LOGIN} definition="authentication" /> : null}
    </>
  )
}

/** OAuth needs an account that a person has authorised. */
function AccountOf({ root }: StepProps) {
  const { configurationId } = useParams({ from: '/builder/$configurationId' })
  const id = textAt(parsed(root.draft.base.text), ['authorization', 'oauth_api', 'id'])
  return (
    <p className="flex-row wrap">
      <Icon name={id ? 'st-ok' : 'st-warn'} />
      <span>{id ? `Uses the authorisation ${id}.` : 'No account is authorised yet.'}</span>
      <Link
        to="/components/$componentId/$configurationId"
        params={{ componentId: 'keboola.ex-generic-v2', configurationId }}
        search={{ tab: 'authorisation' }}
      >
        {id ? 'Look at it' : 'Authorise an account'}
      </Link>
    </p>
  )
}

/** A value that the login takes by its name; one with # is encrypted. */
const Attribute = ({ owner, name, label }: { owner: OpenDocument; name: string; label: string }) =>
  name.startsWith('#') ? (
    <Field label={label}>
      {(id) => (
        <SecretInput
          id={id}
          label={label}
          name={name}
          value={valueIn(parsed(owner.draft.text), [...CONFIG, name])}
          onChange={(value) => edit(owner, [[[...CONFIG, name], value]])}
        />
      )}
    </Field>
  ) : (
    <Text owner={owner} path={[...CONFIG, name]} label={label} />
  )

/** What is written before the token; a header that is made in another way is left to the JSON. */
function Prefix({ root, header }: { root: OpenDocument; header: Path }) {
  const prefix = prefixAt(parsed(root.draft.text), header)
  if (prefix === undefined) return null
  return (
    <TextField
      label="Before the token"
      placeholder="nothing"
      hint={prefix === '' ? 'The token is sent alone.' : `Sent as “${prefix}” and the token.`}
      value={prefix}
      onChange={(next) => root.draft.edit(withPrefix(root.draft.text, header, next))}
    />
  )
}

const HeaderName = ({ header, onDone }: { header: string; onDone: (name: string) => void }) => (
  <Field label="Sent as the header">
    {(id) => <NameInput key={header} id={id} placeholder="Authorization" value={header} onDone={onDone} />}
  </Field>
)

/** A token or key that stands in a header of every request. */
function HeaderToken({ root }: StepProps) {
  const found = headerLoginOf(parsed(root.draft.text))
  if (!found) return null
  const { header, path, attribute } = found
  return (
    <div className="two-fields">
      {attribute === undefined ? (
        <Text owner={root} path={path} label="Value of the header" hint="It is not encrypted here." />
      ) : (
        <Attribute owner={root} name={attribute} label="Token" />
      )}
      <HeaderName header={header} onDone={(name) => root.draft.edit(withLoginHeader(root.draft.text, name))} />
      <Prefix root={root} header={path} />
    </div>
  )
}

function LoginRequest({ root }: StepProps) {
  const { text, edit: write } = root.draft
  const document = parsed(text)
  const { header, answer } = tokenHeaderOf(document)
  const expiry = expiryOf(document)
  return (
    <>
      <div className="two-fields">
        <Text owner={root} path={[...LOGIN, 'loginRequest', 'endpoint']} label="Login address" />
        <Choose
          owner={root}
          path={[...LOGIN, 'loginRequest', 'method']}
          label="Method"
          options={['POST', 'FORM', 'GET']}
          otherwise="GET"
        />
      </div>
      <Params owner={root} secretOwner={root} path={[...LOGIN, 'loginRequest', 'params']} label="Sent with the login" />
      <div className="two-fields">
        <TextField
          label="Token in the answer"
          placeholder="token"
          value={answer}
          onChange={(next) => write(withToken(text, next))}
        />
        <HeaderName header={header} onDone={(name) => write(withTokenHeader(text, name))} />
        {header ? <Prefix root={root} header={apiHeader(header)} /> : null}
        <TextField
          label="Log in again after the seconds at"
          hint={expiry ? expiryHint(expiry) : 'One login per run.'}
          placeholder="never"
          value={expiry}
          onChange={(next) => write(withExpiry(text, next))}
        />
      </div>
    </>
  )
}

const expiryHint = (expiry: string): string =>
  /^\d+$/.test(expiry)
    ? `The login is repeated after ${expiry} seconds.`
    : `The login is repeated when ${expiry} of its answer is over.`
