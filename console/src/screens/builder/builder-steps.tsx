// The forms of the builder's steps. Each writes into the text of the document it belongs to; nothing else in it moves.

import { useMutation } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type ComponentProps, type ReactNode, Suspense, useId, useState } from 'react'
import {
  API,
  apiHeader,
  basicNames,
  CONFIG,
  type Column,
  columnOf,
  expiryOf,
  headerLoginOf,
  jobPath,
  type Kind,
  LOGIN,
  LOGINS,
  loginOf,
  PAGE_TITLES,
  PAGES,
  pagesPath,
  pictureOf,
  prefixAt,
  SINCE_FORMATS,
  sinceOf,
  tableOf,
  textAt,
  tokenHeaderOf,
  withColumn,
  withColumns,
  withExpiry,
  withLogin,
  withLoginHeader,
  withPages,
  withPrefix,
  withSeveralPages,
  withSince,
  withToken,
  withTokenHeader,
} from '../../builder/extractor-document.ts'
import {
  type Changes,
  editAll,
  isRecord,
  type Path,
  parsed,
  putAt,
  renameAt,
  setAt,
  sliceAt,
  valueIn,
} from '../../document/json-text.ts'
import { choiceFor, choicesOf, resolve, type Schema, typedText } from '../../document/schema.ts'
import { LazyJsonEditor } from '../../editor/lazy.ts'
import { NameInput, SchemaForm, SecretInput } from '../../editor/schema-form.tsx'
import { ViewSwitch } from '../../editor/view-switch.tsx'
import type { OpenDocument } from '../../facts/configuration-documents.ts'
import { Lines } from '../../load.tsx'
import { Field } from '../../parts/field.tsx'
import { HelpButton, Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { runAction, type Walk } from './builder-live.tsx'

interface StepProps {
  readonly step: string
  readonly index: number
  readonly root: OpenDocument
  readonly current: OpenDocument
  /** What applies: the root with the row over it. */
  readonly document: unknown
  readonly schema: Schema | undefined
  readonly walk: Walk | undefined
  readonly effective: string
  /** Shows the document of the step as JSON instead. */
  readonly isJson: boolean
  readonly onView: (view: string) => void
}

const TITLES: Readonly<Record<string, string>> = {
  address: 'Address',
  login: 'Login',
  request: 'Request',
  pages: 'Pages',
  columns: 'Columns',
  new: 'Only what is new',
  children: 'Children',
}

/** Where the guide of the extractor tells about a step. */
const SECTIONS: Readonly<Record<string, string>> = {
  login: 'authentication',
  request: 'parameters-and-methods',
  pages: 'pagination',
  columns: 'mappings',
  new: 'state-and-increments',
  children: 'children',
}

export function StepForm(props: StepProps) {
  const { step, isJson, schema } = props
  const title = TITLES[step] ?? 'Address'
  const owner = ['request', 'new', 'children'].includes(step) ? props.current : props.root
  const { key, name, draft } = owner
  const isReadable = parsed(draft.text) !== undefined
  return (
    <section aria-label={title}>
      <div className="ph">
        <h2 className="h">{title}</h2>
        <span className="xs mute">{key === 'root' ? 'shared by all rows' : `row ${name}`}</span>
        <span className="push" />
        <ViewSwitch view={isJson ? 'json' : 'form'} canShowForm={isReadable} onChange={props.onView} />
        <HelpButton page="extractor" section={SECTIONS[step] ?? 'a-first-job'} label={title.toLowerCase()} />
      </div>
      {isJson || !isReadable ? (
        <Suspense fallback={<Lines count={8} />}>
          <LazyJsonEditor key={key} label={`${title} as JSON`} text={draft.text} onChange={draft.edit} schema={schema} isPart />
        </Suspense>
      ) : (
        <form className="fm stack4" onSubmit={(event) => event.preventDefault()}>
          {stepOf(props)}
        </form>
      )}
    </section>
  )
}

function stepOf(props: StepProps): ReactNode {
  switch (props.step) {
    case 'login':
      return <LoginStep {...props} />
    case 'request':
      return <RequestStep {...props} />
    case 'pages':
      return <PagesStep {...props} />
    case 'columns':
      return <ColumnsStep {...props} />
    case 'new':
      return <NewStep {...props} />
    case 'children':
      return <ChildrenStep {...props} />
    default:
      return <AddressStep {...props} />
  }
}

/** Changes several values of a document at once. */
const edit = ({ draft }: OpenDocument, changes: Changes): void => draft.edit(editAll(draft.text, changes))

/** Changes of the root and of the row together; both may be one document. */
function editBoth({ root, current }: Pick<StepProps, 'root' | 'current'>, ofRoot: Changes, ofCurrent: Changes): void {
  if (root.key === current.key) edit(root, [...ofRoot, ...ofCurrent])
  else {
    if (ofRoot.length > 0) edit(root, ofRoot)
    if (ofCurrent.length > 0) edit(current, ofCurrent)
  }
}

/** The text at one place of a document; an empty one takes it away. */
const Text = ({
  owner,
  path,
  ...field
}: Omit<ComponentProps<typeof TextField>, 'value' | 'onChange'> & { readonly owner: OpenDocument; readonly path: Path }) => (
  <TextField
    {...field}
    value={textAt(parsed(owner.draft.text), path)}
    onChange={(next) => edit(owner, [[path, next === '' ? undefined : next]])}
  />
)

const Choose = ({
  owner,
  path,
  label,
  options,
  otherwise,
}: {
  owner: OpenDocument
  path: Path
  label: string
  options: readonly string[]
  otherwise: string
}) => (
  <Field label={label}>
    {(id) => (
      <select
        className="input"
        id={id}
        value={textAt(parsed(owner.draft.text), path) || otherwise}
        onChange={(event) => edit(owner, [[path, event.target.value]])}
      >
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    )}
  </Field>
)

const Kinds = ({
  label,
  kinds,
  current,
  onChoose,
}: {
  label: string
  kinds: readonly Kind[]
  current: string
  onChoose: (id: string) => void
}) => (
  <div role="radiogroup" aria-label={label} className="opts">
    {kinds.map(({ id, name, note }) => (
      // biome-ignore lint/a11y/useSemanticElements: a card with two lines of text
      <button key={id} type="button" className="opt" role="radio" aria-checked={id === current} onClick={() => onChoose(id)}>
        <b>{name}</b>
        <span>{note}</span>
      </button>
    ))}
  </div>
)

const AddressStep = ({ root }: StepProps) => (
  <>
    <Text
      owner={root}
      path={[...API, 'baseUrl']}
      label="Base address"
      placeholder="https://api.example.com/v1/"
      hint="Endpoints are relative to it, like links of a page: end it with a slash."
    />
    <p className="lbl">Headers of every request</p>
    <SchemaForm
      schema={{ type: 'object', additionalProperties: { type: ['string', 'number'] } }}
      base={[...API, 'http', 'headers']}
      text={root.draft.text}
      onChange={root.draft.edit}
    />
  </>
)

/** Names and values that are sent; a secret one is an attribute that is encrypted. */
function Params({
  owner,
  secretOwner,
  path,
  label,
}: {
  owner: OpenDocument
  secretOwner: OpenDocument
  path: Path
  label: string
}) {
  const document = parsed(owner.draft.text)
  const secrets = parsed(secretOwner.draft.text)
  const value = valueIn(document, path)
  const entries = Object.entries(isRecord(value) ? value : {})
  const [name, setName] = useState('')
  const add = (isSecret: boolean) => {
    if (name === '' || entries.some(([known]) => known === name)) return
    edit(owner, [[[...path, name], isSecret ? { attr: `#${name}` } : '']])
    setName('')
  }
  return (
    <div className="field">
      <span className="lbl">{label}</span>
      <div className="entries">
        {entries.map(([key, one]) => {
          const attribute = isRecord(one) && typeof one.attr === 'string' && one.attr.startsWith('#') ? one.attr : undefined
          return (
            <div key={key} className="entry-row">
              <NameInput
                value={key}
                label={`Name of ${key}`}
                onDone={(next) =>
                  next && !entries.some(([known]) => known === next)
                    ? owner.draft.edit(renameAt(owner.draft.text, [...path, key], next))
                    : undefined
                }
              />
              {attribute ? (
                <SecretInput
                  id={`secret-${attribute}`}
                  label={`Value of ${key}`}
                  name={attribute}
                  value={valueIn(secrets, [...CONFIG, attribute])}
                  onChange={(next) => edit(secretOwner, [[[...CONFIG, attribute], next]])}
                />
              ) : (
                <input
                  className="input mono"
                  aria-label={`Value of ${key}`}
                  value={typeof one === 'string' ? one : (sliceAt(owner.draft.text, [...path, key]) ?? '')}
                  onChange={(event) =>
                    owner.draft.edit(putAt(owner.draft.text, [...path, key], typedParameter(event.target.value)))
                  }
                />
              )}
              <button
                type="button"
                className="btn icon ghost sm"
                aria-label={`Remove ${key}`}
                onClick={() => edit(owner, [[[...path, key], undefined]])}
              >
                <Icon name="x" size="sm" />
              </button>
            </div>
          )
        })}
        <div className="row wrap">
          <input
            className="input mono"
            aria-label={`New name, ${label.toLowerCase()}`}
            placeholder="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              add(false)
            }}
          />
          <button type="button" className="btn sm" disabled={name === ''} onClick={() => add(false)}>
            Add a value
          </button>
          <button type="button" className="btn sm" disabled={name === ''} onClick={() => add(true)}>
            <Icon name="lock" size="sm" />
            <span>Add a secret</span>
          </button>
        </div>
      </div>
    </div>
  )
}

/** Numbers stay numbers, what is JSON is JSON, and an empty value is sent. */
const typedParameter = (text: string): string => typedText(text, {}) ?? '""'

function LoginStep(props: StepProps) {
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
        <div className="f2">
          <Attribute owner={root} name={basicNames(document).user} label="User" />
          <Attribute owner={root} name={basicNames(document).password} label="Password" />
        </div>
      ) : null}
      {kind === 'header' ? <HeaderToken {...props} /> : null}
      {kind === 'client' ? (
        <div className="f2">
          <Text owner={root} path={[...LOGIN, 'loginRequest', 'endpoint']} label="Token address" placeholder="oauth/token" />
          <Text
            owner={root}
            path={[...LOGIN, 'loginRequest', 'params', 'scope']}
            label="Scope"
            placeholder="as the provider says"
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
      <button type="button" className="btn sm ghost" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
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
    <p className="row wrap">
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
    <div className="f2">
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
      <div className="f2">
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
      <div className="f2">
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
          hint={expiry ? expiryHint(expiry) : 'The login is made once for a run.'}
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

const RequestStep = ({ root, current, index, document }: StepProps) => (
  <>
    <div className="f2">
      <Text owner={current} path={[...jobPath(index), 'endpoint']} label="Endpoint" placeholder="orders" />
      <Choose
        owner={current}
        path={[...jobPath(index), 'method']}
        label="Method"
        options={['GET', 'POST', 'FORM']}
        otherwise="GET"
      />
      <Text
        owner={current}
        path={[...jobPath(index), 'dataField']}
        label="Items are at"
        placeholder="found by itself"
        hint="Path of the list in the answer."
      />
      <Text owner={current} path={[...jobPath(index), 'dataType']} label="Table" placeholder={tableOf(document, index)} />
      <Text owner={root} path={[...CONFIG, 'outputBucket']} label="Bucket" placeholder="made for this configuration" />
    </div>
    <Params owner={current} secretOwner={root} path={[...jobPath(index), 'params']} label="Parameters" />
  </>
)

function PagesStep(props: StepProps) {
  const { root, index } = props
  const document = parsed(root.draft.text)
  const path = pagesPath(props.document, index)
  const settings = valueIn(document, path)
  const method = textAt(settings, ['method']) || 'none'
  const choose = (id: string) => {
    if (id === method) return
    root.draft.edit(withPages(root.draft.text, path, id, { saved: root.draft.base.text, knownTo }))
  }
  const knownTo = (kind: string) => Object.keys(chosenIn(props.schema, 'pagination', { method: kind })?.properties ?? {})
  return (
    <>
      <Suggestion {...props} />
      <Scrollers {...props} />
      <Kinds label="How pages follow each other" kinds={PAGES} current={method} onChoose={choose} />
      <PicturedPages settings={settings} />
      {method === 'none' ? null : <FromSchema {...props} base={path} definition="pagination" />}
    </>
  )
}

/** Requests of one API may page in different ways: each way has a name, and a request picks one. */
function Scrollers({ root, current, index, document }: StepProps) {
  const pagination = valueIn(parsed(root.draft.text), [...API, 'pagination'])
  const id = useId()
  const [name, setName] = useState('')
  if (!isRecord(pagination)) return null
  if (pagination.method !== 'multiple')
    return (
      <button type="button" className="btn sm ghost" onClick={() => root.draft.edit(withSeveralPages(root.draft.text))}>
        <Icon name="plus" size="sm" />
        <span>Requests page in different ways</span>
      </button>
    )
  const names = Object.keys(isRecord(pagination.scrollers) ? pagination.scrollers : {})
  const usual = typeof pagination.default === 'string' ? pagination.default : ''
  const picked = textAt(document, [...jobPath(index), 'scroller'])
  return (
    <div className="f2">
      <div className="field">
        <Label htmlFor={id}>Way of this request</Label>
        <select
          className="input"
          id={id}
          value={picked}
          onChange={(event) => edit(current, [[[...jobPath(index), 'scroller'], event.target.value || undefined]])}
        >
          <option value="">{usual ? `${usual}, the usual one` : 'one page only'}</option>
          {names.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <div className="field">
        <Label htmlFor={`${id} new`}>Another way</Label>
        <span className="row">
          <input
            className="input mono"
            id={`${id} new`}
            placeholder="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <button
            type="button"
            className="btn sm"
            disabled={name === '' || names.includes(name)}
            onClick={() => {
              editBoth(
                { root, current },
                [[[...API, 'pagination', 'scrollers', name], { method: 'offset' }]],
                [[[...jobPath(index), 'scroller'], name]],
              )
              setName('')
            }}
          >
            Add
          </button>
        </span>
      </div>
    </div>
  )
}

function PicturedPages({ settings }: { settings: unknown }) {
  const picture = pictureOf(settings)
  if (!picture) return null
  const { sent, values, between, end } = picture
  return (
    <div>
      <p className="lbl">What it will do</p>
      <div
        className="pic"
        role="img"
        aria-label={`Three requests: ${sent} is ${values.map((value) => value || 'not sent').join(', then ')}. It ends at: ${end}.`}
      >
        {values.map((value, at) => (
          <span key={value || 'first'} className="contents">
            <span className="pg">
              {sent}
              <br />
              <b>{value || 'none'}</b>
            </span>
            <span className="ar">{at < values.length - 1 ? between : end}</span>
          </span>
        ))}
        <span className="en">
          <Icon name="stop" />
          end
        </span>
      </div>
    </div>
  )
}

/** The kind that a value is, of those the component's schema defines. */
function chosenIn(schema: Schema | undefined, definition: string, value: unknown): Schema | undefined {
  const whole = schema?.$defs?.[definition]
  return schema && whole && choiceFor(value, choicesOf(resolve(whole, { root: schema }), { root: schema }))
}

/** Fields of the chosen kind, from the component's own schema, with plain names. */
function FromSchema({ root, schema, base, definition }: StepProps & { base: Path; definition: string }) {
  const chosen = chosenIn(schema, definition, valueIn(parsed(root.draft.text), base))
  if (!schema || !chosen) return null
  const properties = Object.fromEntries(
    Object.entries(chosen.properties ?? {}).map(([name, member]) => [
      name,
      PAGE_TITLES[name] ? { ...member, title: PAGE_TITLES[name] } : member,
    ]),
  )
  return (
    <SchemaForm
      schema={{ ...chosen, properties, $defs: schema.$defs ?? {} }}
      base={base}
      text={root.draft.text}
      onChange={root.draft.edit}
    />
  )
}

interface Suggested {
  readonly dataField: Guess
  readonly pagination: Guess
  readonly primaryKey: Guess
  readonly incremental: Guess
  readonly mapping: Readonly<Record<string, unknown>> | null
}
interface Guess {
  readonly value: unknown
  readonly reason: string
}

const useSuggestions = (effective: string, index: number) =>
  useMutation<Suggested, Error, void>({
    mutationFn: async () => (await runAction('suggest', setAt(effective, ['parameters', 'job'], index))) as Suggested,
  })

interface FromAnswerProps extends Pick<StepProps, 'effective' | 'index'> {
  readonly reasons: (found: Suggested) => readonly string[]
  /** What taking the suggestion does; undefined when there is nothing to take. */
  readonly use: (found: Suggested) => (() => void) | undefined
}

/** Asks the API once and shows what its answer suggests, with the reasons. */
function FromAnswer({ effective, index, reasons, use }: FromAnswerProps) {
  const suggest = useSuggestions(effective, index)
  const found = suggest.data
  const apply = found && use(found)
  return (
    <>
      <button type="button" className="btn sm" disabled={suggest.isPending} onClick={() => suggest.mutate()}>
        <Icon name="wand" size="sm" />
        <span>Suggest from a real answer</span>
      </button>
      {suggest.error ? <Problem error={suggest.error} /> : null}
      {found ? (
        <div className="note run">
          <Icon name="wand" />
          <div className="grow stack2">
            {reasons(found).map((reason) => (
              <p key={reason}>{reason}</p>
            ))}
          </div>
          {apply ? (
            <button type="button" className="btn sm" onClick={apply}>
              Use it
            </button>
          ) : null}
        </div>
      ) : null}
    </>
  )
}

/** What the real answer says about pages and items. */
function Suggestion({ root, current, index, effective, document }: StepProps) {
  const fieldPath = [...jobPath(index), 'dataField']
  /** A list that is not where the configuration looks for it. Nothing looks at all: the only list is found anyway. */
  const isOther = (field: unknown) => typeof field === 'string' && field !== '.' && field !== textAt(document, fieldPath)
  const apply = ({ pagination, dataField }: Suggested) => {
    editBoth(
      { root, current },
      isRecord(pagination.value) ? [[pagesPath(document, index), pagination.value]] : [],
      isOther(dataField.value) ? [[fieldPath, dataField.value]] : [],
    )
  }
  return (
    <FromAnswer
      effective={effective}
      index={index}
      reasons={({ pagination, dataField }) => [pagination.reason, dataField.reason]}
      use={(found) => (isRecord(found.pagination.value) || isOther(found.dataField.value) ? () => apply(found) : undefined)}
    />
  )
}

function ColumnsStep({ root, current, index, document, effective, walk }: StepProps) {
  const suggest = useSuggestions(effective, index)
  const path = [...CONFIG, 'mappings', tableOf(document, index)]
  const owner = valueIn(parsed(root.draft.text), path) === undefined ? current : root
  const mapping = valueIn(parsed(owner.draft.text), path)
  const entries = Object.entries(isRecord(mapping) ? mapping : {})
  const found = walk?.steps.flatMap(({ tables }) => tables ?? [])[0]?.columns ?? []
  const put = (source: string, column: Column) => owner.draft.edit(withColumn(owner.draft.text, [...path, source], column))
  return (
    <>
      <p className="mute">
        {entries.length === 0
          ? `All columns are taken as they come${found.length > 0 ? `: ${found.join(', ')}` : ''}. A mapping chooses and names them.`
          : 'Only these columns are taken.'}
      </p>
      <div className="row wrap">
        <button
          type="button"
          className="btn sm"
          disabled={suggest.isPending}
          onClick={() =>
            suggest.mutate(undefined, {
              onSuccess: ({ mapping: suggested }) =>
                suggested ? owner.draft.edit(withColumns(owner.draft.text, path, suggested)) : undefined,
            })
          }
        >
          <Icon name="wand" size="sm" />
          <span>Map the columns of a real answer</span>
        </button>
        {entries.length > 0 ? (
          <button type="button" className="btn sm" onClick={() => edit(owner, [[path, undefined]])}>
            Take all as they come
          </button>
        ) : null}
      </div>
      <Field label="Another value of the item" hint="A path such as address.city. Enter adds it as a column.">
        {(id) => (
          <NameInput
            key={entries.length}
            id={id}
            placeholder="address.city"
            value=""
            onDone={(source) =>
              source && !entries.some(([known]) => known === source)
                ? put(source, { destination: source.replace(/[^A-Za-z0-9]+/g, '_'), isKey: false })
                : undefined
            }
          />
        )}
      </Field>
      {suggest.error ? <Problem error={suggest.error} /> : null}
      {entries.length > 0 ? (
        <table className="t columns-table">
          <thead>
            <tr>
              <th>In the item</th>
              <th>Column</th>
              <th>Key</th>
              <th>
                <span className="vh">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {entries.map(([source, entry]) => {
              const column = columnOf(entry)
              return (
                <tr key={source}>
                  <td className="mono">{source}</td>
                  <td>
                    {column ? (
                      <input
                        className="input mono"
                        aria-label={`Column of ${source}`}
                        value={column.destination}
                        onChange={(event) => put(source, { ...column, destination: event.target.value })}
                      />
                    ) : (
                      <span className="mute">table {textAt(entry, ['destination'])}</span>
                    )}
                  </td>
                  <td>
                    {column ? (
                      <input
                        type="checkbox"
                        aria-label={`${source} is part of the key`}
                        checked={column.isKey}
                        onChange={() => put(source, { ...column, isKey: !column.isKey })}
                      />
                    ) : null}
                  </td>
                  <td>
                    <button
                      type="button"
                      className="btn icon ghost sm"
                      aria-label={`Leave ${source} out`}
                      onClick={() => edit(owner, [[[...path, source], undefined]])}
                    >
                      <Icon name="x" size="sm" />
                    </button>
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      ) : null}
    </>
  )
}

/** What tells rows apart and when they changed, from a real answer. */
function NewSuggestion({ root, index, effective, document }: StepProps) {
  const apply = (key: unknown) =>
    edit(root, [
      [[...CONFIG, 'primaryKey', tableOf(document, index)], key],
      [[...CONFIG, 'incrementalOutput'], true],
    ])
  return (
    <FromAnswer
      effective={effective}
      index={index}
      reasons={({ primaryKey, incremental }) => [primaryKey.reason, incremental.reason]}
      use={({ primaryKey }) => (Array.isArray(primaryKey.value) ? () => apply(primaryKey.value) : undefined)}
    />
  )
}

function NewStep(props: StepProps) {
  const { root, current, index, document } = props
  const ids = [useId(), useId(), useId(), useId()] as const
  const since = sinceOf(document, index)
  const isIncremental = valueIn(document, [...CONFIG, 'incrementalOutput']) === true
  const table = tableOf(document, index)
  const keyPath = [...CONFIG, 'primaryKey', table]
  const key = valueIn(document, keyPath)
  const keyText = Array.isArray(key) ? key.join(', ') : typeof key === 'string' ? key : ''
  const setSince = (name: string, format: string) => current.draft.edit(withSince(current.draft.text, index, { name, format }))
  return (
    <>
      <NewSuggestion {...props} />
      <div className="field">
        <Label htmlFor={ids[0]}>When the table is there already</Label>
        <select
          className="input"
          id={ids[0]}
          value={isIncremental ? 'add' : 'replace'}
          onChange={(event) => edit(root, [[[...CONFIG, 'incrementalOutput'], event.target.value === 'add' ? true : undefined]])}
        >
          <option value="replace">load it anew</option>
          <option value="add">add the rows, replace those with the same key</option>
        </select>
      </div>
      <div className="field">
        <Label htmlFor={ids[1]}>Key of {table || 'the table'}</Label>
        <input
          className="input mono"
          id={ids[1]}
          placeholder="id"
          key={keyText === '' ? 'none' : 'some'}
          defaultValue={keyText}
          onChange={(event) => {
            const columns = event.target.value
              .split(',')
              .map((part) => part.trim())
              .filter((part) => part !== '')
            edit(root, [[keyPath, columns.length === 0 ? undefined : columns]])
          }}
        />
        <span className="hint">
          {keyText || !isIncremental
            ? 'Columns that tell one row from another.'
            : 'Without a key rows are only added, also those that are there already.'}
        </span>
      </div>
      <div className="f2">
        <div className="field">
          <Label htmlFor={ids[2]}>Send the start of the last good run as</Label>
          <NameInput
            key={since?.name ?? ''}
            id={ids[2]}
            placeholder="not sent"
            value={since?.name ?? ''}
            onDone={(name) => setSince(name, since?.format ?? 'date')}
          />
        </div>
        <div className="field">
          <Label htmlFor={ids[3]}>Written</Label>
          <select
            className="input"
            id={ids[3]}
            disabled={!since}
            value={since?.format ?? 'date'}
            onChange={(event) => setSince(since?.name ?? '', event.target.value)}
          >
            {SINCE_FORMATS.map(({ id, name, note }) => (
              <option key={id} value={id}>
                {name}, {note}
              </option>
            ))}
          </select>
        </div>
      </div>
    </>
  )
}

const ChildrenStep = ({ current, index, schema }: StepProps) => (
  <>
    <p className="mute">
      A child is asked for once for every item: <span className="id">orders/{'{id}'}/lines</span>, with the id of the item in its
      place.
    </p>
    {schema ? (
      <SchemaForm
        schema={{
          type: 'object',
          $defs: schema.$defs ?? {},
          properties: { children: { title: 'Requests for every item', type: 'array', items: { $ref: '#/$defs/job' } } },
        }}
        base={jobPath(index)}
        text={current.draft.text}
        onChange={current.draft.edit}
      />
    ) : null}
  </>
)
