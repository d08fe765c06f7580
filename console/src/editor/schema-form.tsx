// A form made from a JSON Schema. It edits the text of the document: what it does not show stays as it is.

import { createContext, type ReactNode, useContext, useId, useState } from 'react'
import {
  editAll,
  isEncrypted,
  isRecord,
  type Path,
  parsed,
  pathText,
  pretty,
  putAt,
  renameAt,
  setAt,
  sliceAt,
  swapAt,
  valueIn,
} from '../document/json-text.ts'
import {
  choiceFor,
  choicesOf,
  hasTypeOf,
  labelOf,
  marksOf,
  resolve,
  type Schema,
  type SchemaSet,
  typedText,
  typesOf,
  unknownNames,
} from '../document/schema.ts'
import { HelpButton, Label } from '../parts/guide.tsx'
import { Icon } from '../parts/icon.tsx'
import { Suggestions } from '../parts/suggestions.tsx'
import './editor.css'

interface FormContext {
  readonly set: SchemaSet
  /** Groups below the first level are only named until they are set. */
  readonly base: Path
  readonly document: unknown
  /** What applies where this document has no value: the root, for a row. */
  readonly inherited: unknown
  /** What was saved, for marking changes. */
  readonly saved: unknown
  readonly put: (path: Path, value: unknown) => void
  /** Puts JSON as it was typed: large numbers and their spelling stay. */
  readonly putText: (path: Path, text: string | undefined) => void
  /** JSON of a place as it is written. */
  readonly textOf: (path: Path) => string | undefined
  /** Makes a value one of another kind: what distinguishes the kinds is set, all else stays. */
  readonly mark: (path: Path, marks: readonly (readonly [string, unknown])[]) => void
  readonly rename: (path: Path, name: string) => void
  /** Two elements of a list change places, each as it was written. */
  readonly swap: (one: Path, other: Path) => void
  readonly suggestions: (format: string) => readonly string[]
  readonly onType: (format: string, text: string) => void
  readonly onOpenJson: (() => void) | undefined
  /** The section of a guide that describes a place. */
  readonly helpFor: (path: Path) => { readonly page: string; readonly section: string } | undefined
}

const Context = createContext<FormContext | undefined>(undefined)
const useForm = (): FormContext => useContext(Context)!

export interface SchemaFormProps {
  /** Of the document, or of the part at `base`. */
  readonly schema: Schema
  readonly base?: Path
  readonly text: string
  readonly onChange: (text: string) => void
  readonly inherited?: unknown
  readonly saved?: unknown
  /** Names to choose from, for texts with a `format` such as `table-id`. */
  readonly suggestions?: (format: string) => readonly string[]
  /** What is typed into a field with a `format`, for suggestions that are searched for. */
  readonly onType?: (format: string, text: string) => void
  /** Opens the JSON, where members are that no field shows. Left out: the form is a part of a whole that shows them elsewhere. */
  readonly onOpenJson?: () => void
  readonly helpFor?: FormContext['helpFor']
}

export function SchemaForm({
  schema,
  base = [],
  text,
  onChange,
  inherited,
  saved,
  suggestions = () => [],
  onType = () => {},
  onOpenJson,
  helpFor = () => undefined,
}: SchemaFormProps) {
  const set = { root: schema }
  const document = parsed(text)
  return (
    <Context
      value={{
        set,
        base,
        document,
        inherited,
        saved,
        suggestions,
        onType,
        onOpenJson,
        helpFor,
        put: (path, value) => onChange(setAt(text, path, value)),
        putText: (path, json) => onChange(putAt(text, path, json)),
        textOf: (path) => sliceAt(text, path),
        mark: (path, marks) =>
          onChange(
            editAll(
              text,
              marks.map(([name, value]) => [[...path, name], value] as const),
            ),
          ),
        rename: (path, name) => onChange(renameAt(text, path, name)),
        swap: (one, other) => onChange(swapAt(text, one, other)),
      }}
    >
      <Members schema={resolve(schema, set)} path={base} />
    </Context>
  )
}

/** Up to so many short fields are always shown. */
const FEW = 4

/** The members of an object: short ones two in a line, objects as groups of their own, what nothing describes by name. */
function Members({ schema, path }: { schema: Schema; path: Path }) {
  const { set, document, inherited } = useForm()
  const value = valueIn(document, path)
  const members = Object.entries(schema.properties ?? {})
    .map(([name, member]) => ({ name, member: resolve(member, set) }))
    .filter(({ name, member }) => member.const === undefined && (!member.deprecated || (isRecord(value) && name in value)))
  const isShort = ({ member }: { member: Schema }) => !isGroup(member)
  const isSet = (name: string) =>
    valueIn(document, [...path, name]) !== undefined || valueIn(inherited, [...path, name]) !== undefined
  const short = members.filter(isShort)
  const shown = short.length <= FEW ? short : short.filter(({ name }) => isSet(name) || schema.required?.includes(name))
  const further = isRecord(schema.additionalProperties) || schema.additionalProperties === true
  const fields = (list: typeof short) => (
    <div className="two-fields">
      {list.map(({ name, member }) => (
        <Field key={name} name={name} schema={member} path={[...path, name]} isRequired={schema.required?.includes(name)} />
      ))}
    </div>
  )
  return (
    <>
      {shown.length > 0 ? fields(shown) : null}
      {shown.length < short.length ? (
        <details className="more">
          <summary>
            {shown.length === 0 ? 'Settings' : 'More settings'}, {short.length - shown.length} not set
          </summary>
          {fields(short.filter((one) => !shown.includes(one)))}
        </details>
      ) : null}
      {members
        .filter((one) => !isShort(one))
        .map(({ name, member }) => (
          <Group key={name} name={name} schema={member} path={[...path, name]} />
        ))}
      {further ? (
        <Entries schema={schema} path={path} known={members.map(({ name }) => name)} />
      ) : (
        <Unknown schema={schema} path={path} />
      )}
    </>
  )
}

const isGroup = (schema: Schema): boolean =>
  schema.properties !== undefined ||
  schema.oneOf !== undefined ||
  (typesOf(schema).includes('object') && isRecord(schema.additionalProperties)) ||
  (typesOf(schema).includes('array') && schema.items !== undefined && !isScalar(schema.items)) ||
  (typesOf(schema).includes('object') && schema.additionalProperties === true)

const isScalar = (schema: Schema): boolean =>
  schema.$ref === undefined &&
  typesOf(schema).length > 0 &&
  typesOf(schema).every((type) => type !== 'object' && type !== 'array')

/** Members that no part of the form shows; the JSON view does. */
function Unknown({ schema, path }: { schema: Schema; path: Path }) {
  const { set, document, onOpenJson } = useForm()
  const names = unknownNames(valueIn(document, path), schema, set)
  if (names.length === 0 || !onOpenJson) return null
  return (
    <p className="fine mute">
      Kept as JSON, not shown here:{' '}
      {names.map((name) => (
        <button key={name} type="button" className="link identifier" onClick={onOpenJson}>
          {pathText([...path, name])}
        </button>
      ))}
    </p>
  )
}

/** A part with members of its own. One that is not set is only named until it is added. */
function Group({ name, schema, path }: { name: string; schema: Schema; path: Path }) {
  const { set, base, document, inherited, put, helpFor } = useForm()
  const help = helpFor(path)
  const isBelow = path.length > base.length + 1 || base.length > 0
  const value = valueIn(document, path)
  const above = valueIn(inherited, path)
  const label = labelOf(name, schema)
  const choices = choicesOf(schema, set)
  if (value === undefined && isBelow)
    return (
      <div className="unset flex-row">
        <span className="medium">{label}</span>
        <span className="fine mute clip">{above === undefined ? schema.description : 'from root'}</span>
        <button type="button" className="button small push" onClick={() => put(path, emptyOf(schema, set))}>
          <Icon name="plus" size="small" />
          <span>
            {above === undefined ? 'Set' : 'Change'} <span className="visually-hidden">{label}</span>
          </span>
        </button>
      </div>
    )
  return (
    <fieldset>
      <legend>
        {label}
        {help ? <HelpButton {...help} label={label.toLowerCase()} /> : null}
        {value === undefined && above !== undefined ? <span className="from">from root</span> : null}
        {value !== undefined && isBelow ? (
          <button
            type="button"
            className="button icon ghost small"
            aria-label={`Remove ${label}`}
            title={`Remove ${label}`}
            onClick={() => put(path, undefined)}
          >
            <Icon name="x" size="small" />
          </button>
        ) : null}
      </legend>
      {schema.description ? <p className="fine mute legend-note">{schema.description}</p> : null}
      {choices.length > 0 ? (
        <Choice label={label} choices={choices} path={path} />
      ) : typesOf(schema).includes('array') ? (
        <List schema={schema} path={path} label={label} />
      ) : value === undefined || isRecord(value) ? (
        <Members schema={schema} path={path} />
      ) : (
        <JsonField name={name} path={path} label={label} />
      )}
    </fieldset>
  )
}

const emptyOf = (schema: Schema, set: SchemaSet): unknown => {
  const choice = choicesOf(schema, set)[0]
  if (choice) return Object.fromEntries(marksOf(choice))
  return typesOf(schema).includes('array') ? [] : {}
}

/** One of several shapes, distinguished by a constant: the kind of login, the kind of pages. */
function Choice({ label, choices, path }: { label: string; choices: readonly Schema[]; path: Path }) {
  const { document, put, mark, helpFor } = useForm()
  const id = useId()
  const value = valueIn(document, path)
  const chosen = choiceFor(value, choices)
  const nameOf = (choice: Schema, index: number) => choice.title ?? typesOf(choice)[0] ?? `Kind ${index + 1}`
  const choose = (name: string) => {
    const choice = choices.find((one, index) => nameOf(one, index) === name)
    if (!choice) return put(path, undefined)
    if (!typesOf(choice).includes('object')) return put(path, '')
    const marks = marksOf(choice)
    if (isRecord(value) && marks.length > 0) mark(path, marks)
    else put(path, Object.fromEntries(marks))
  }
  return (
    <>
      <div className="two-fields">
        <div className="field">
          <Label htmlFor={id} help={helpFor(path)} note={chosen?.description}>
            Kind
          </Label>
          <select
            className="input"
            id={id}
            aria-label={`Kind of ${label}`}
            value={chosen ? nameOf(chosen, choices.indexOf(chosen)) : ''}
            onChange={(event) => choose(event.target.value)}
          >
            <option value="">none</option>
            {choices.map((choice, index) => (
              <option key={nameOf(choice, index)}>{nameOf(choice, index)}</option>
            ))}
          </select>
          {chosen?.description ? <span className="hint">{chosen.description}</span> : null}
        </div>
      </div>
      {chosen && isRecord(value) ? <Members schema={chosen} path={path} /> : null}
      {value !== undefined && !(chosen && isRecord(value)) ? <JsonField name="" path={path} label={label} /> : null}
    </>
  )
}

function List({ schema, path, label }: { schema: Schema; path: Path; label: string }) {
  const { set, document, put, swap } = useForm()
  const value = valueIn(document, path)
  const items = Array.isArray(value) ? (value as readonly unknown[]) : []
  const each = resolve(schema.items ?? {}, set)
  return (
    <div className="stack-3">
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an element of a JSON list has no other name
        <div key={index} className="item">
          <details open={items.length < 4}>
            <summary>
              <span className="medium clip">{summaryOf(item) ?? `${each.title ?? label} ${index + 1}`}</span>
            </summary>
            <div className="item-body">
              {isRecord(item) && each.properties ? (
                <Members schema={each} path={[...path, index]} />
              ) : (
                <JsonField name="" path={[...path, index]} label={`${label} ${index + 1}`} />
              )}
            </div>
          </details>
          <span className="flex-row item-actions">
            {index > 0 ? (
              <button
                type="button"
                className="button icon ghost small"
                aria-label={`Move ${each.title ?? label} ${index + 1} up`}
                title="Move up"
                onClick={() => swap([...path, index - 1], [...path, index])}
              >
                <Icon name="updown" size="small" />
              </button>
            ) : null}
            <button
              type="button"
              className="button icon ghost small"
              aria-label={`Remove ${each.title ?? label} ${index + 1}`}
              title="Remove"
              onClick={() => put([...path, index], undefined)}
            >
              <Icon name="x" size="small" />
            </button>
          </span>
        </div>
      ))}
      <button type="button" className="button small" onClick={() => put([...path, items.length], emptyOf(each, set))}>
        <Icon name="plus" size="small" />
        <span>Add {(each.title ?? label).toLowerCase()}</span>
      </button>
    </div>
  )
}

/** The label of an element. */
const summaryOf = (item: unknown): string | undefined =>
  isRecord(item)
    ? ['name', 'endpoint', 'source', 'destination', 'id']
        .map((key) => item[key])
        .concat(valueIn(item, ['definition', 'component']))
        .find((value): value is string => typeof value === 'string' && value !== '')
    : undefined

/** Names and values that people choose themselves: parameters, headers, attributes. */
export function Entries({ schema, path, known }: { schema: Schema; path: Path; known: readonly string[] }) {
  const { set, document, put, rename } = useForm()
  const value = valueIn(document, path)
  const [isAdding, setAdding] = useState(false)
  const names = isRecord(value) ? Object.keys(value).filter((name) => !known.includes(name)) : []
  const each = isRecord(schema.additionalProperties) ? resolve(schema.additionalProperties as Schema, set) : {}
  return (
    <div className="entries">
      {names.map((name) => (
        <div key={name} className="entry-row">
          <NameInput
            value={name}
            label={`Name of ${name}`}
            onDone={(next) => (next && next !== name && !names.includes(next) ? rename([...path, name], next) : undefined)}
          />
          <EntryValue name={name} schema={each} path={[...path, name]} />
          <button
            type="button"
            className="button icon ghost small"
            aria-label={`Remove ${name}`}
            onClick={() => put([...path, name], undefined)}
          >
            <Icon name="x" size="small" />
          </button>
        </div>
      ))}
      {isAdding ? (
        <div className="entry-row">
          <NameInput
            value=""
            label="Name"
            onDone={(next) => {
              setAdding(false)
              if (next && !names.includes(next)) put([...path, next], '')
            }}
          />
        </div>
      ) : (
        <button type="button" className="button small ghost" onClick={() => setAdding(true)}>
          <Icon name="plus" size="small" />
          <span>{path.length > 1 ? 'Add a value' : 'Add'}</span>
        </button>
      )}
    </div>
  )
}

/** A name is complete when its field is left: on the way to it, it may be the name of something else. */
export function NameInput({
  value,
  label,
  id,
  placeholder = 'name',
  onDone,
}: {
  value: string
  /** Where no label stands beside it. */
  label?: string
  id?: string
  placeholder?: string
  onDone: (name: string) => void
}) {
  const [text, setText] = useState(value)
  return (
    <input
      className="input mono"
      {...(id ? { id } : { 'aria-label': label })}
      placeholder={placeholder}
      // biome-ignore lint/a11y/noAutofocus: a line that was just added is to be filled in
      autoFocus={value === '' && id === undefined}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => {
        setText(value) // stays when the new name is not accepted
        onDone(text.trim())
      }}
      onKeyDown={(event) => (event.key === 'Enter' ? event.currentTarget.blur() : undefined)}
    />
  )
}

const EntryValue = ({ name, schema, path }: { name: string; schema: Schema; path: Path }) =>
  name.startsWith('#') ? (
    <Secret label={name} path={path} id={`entry-${pathText(path)}`} />
  ) : (
    <Loose label={`Value of ${name}`} path={path} schema={schema} />
  )

/** One value with its label, its hint and, where nothing is set, what applies then. */
function Field({
  name,
  schema,
  path,
  isRequired = false,
}: {
  name: string
  schema: Schema
  path: Path
  isRequired?: boolean | undefined
}) {
  const { document, inherited, saved, helpFor } = useForm()
  const id = useId()
  const value = valueIn(document, path)
  const isChanged = saved !== undefined && JSON.stringify(valueIn(saved, path)) !== JSON.stringify(value)
  const above = valueIn(inherited, path)
  const label = name.startsWith('#') && !schema.title ? name : labelOf(name, schema)
  const isWide = typesOf(schema).includes('array')
  const hint = value === undefined && above !== undefined ? `from root: ${briefly(above)}` : hintOf(schema)
  const control = controlOf({ name, schema, path, id, label, value, above })
  return (
    <div className={`field ${isChanged ? 'changed' : ''} ${isWide ? 'span-2' : ''}`}>
      <Label
        htmlFor={id}
        name={name}
        help={helpFor(path)}
        note={schema.description}
        mark={isRequired && above === undefined ? <span className="from">needed</span> : null}
      >
        {label}
      </Label>
      {control}
      {hint ? <span className="hint">{hint}</span> : null}
    </div>
  )
}

/** Schemas describe flags by `true:` and `false:`; the control shows yes and no. */
const hintOf = ({ description, ...schema }: Schema): string | undefined =>
  typesOf(schema).includes('boolean')
    ? description?.replace(/\b(true|false): /g, (_, word) => (word === 'true' ? 'Yes: ' : 'No: '))
    : description

interface ControlProps {
  readonly name: string
  readonly schema: Schema
  readonly path: Path
  readonly id: string
  readonly label: string
  readonly value: unknown
  readonly above: unknown
}

function controlOf({ name, schema, path, id, label, value, above }: ControlProps): ReactNode {
  if (name.startsWith('#')) return <Secret id={id} label={label} path={path} />
  if (schema.enum) return <Options id={id} path={path} schema={schema} value={value} above={above} />
  const types = typesOf(schema)
  if (types.length === 1 && types[0] === 'boolean' && (value === undefined || typeof value === 'boolean'))
    return <Flag id={id} path={path} schema={schema} value={value} above={above} />
  if (types[0] === 'array' && isScalar(schema.items ?? {}) && (value === undefined || Array.isArray(value)))
    return schema.items?.format === 'multiline' || hasLongTexts(value) ? (
      <LongTexts id={id} path={path} label={label} values={Array.isArray(value) ? value : []} />
    ) : (
      <Texts id={id} path={path} schema={schema} value={value} />
    )
  const placeholder = briefly(above ?? schema.default)
  if (value === undefined || typeof value !== 'object' || value === null)
    return <Loose id={id} label={label} path={path} schema={schema} placeholder={placeholder} />
  return <JsonField name={name} id={id} path={path} label={label} />
}

const briefly = (value: unknown): string => {
  if (value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

/** A text or a number; where the schema takes expressions, JSON such as {"attr": "#token"} too. */
function Loose({
  id,
  label,
  path,
  schema,
  placeholder = '',
}: {
  id?: string
  label: string
  path: Path
  schema: Schema
  placeholder?: string
}) {
  const { document, putText, textOf, suggestions, onType } = useForm()
  const listId = useId()
  const value = valueIn(document, path)
  const shown = typeof value === 'string' ? value : (textOf(path) ?? '')
  const [typed, setTyped] = useState<string>()
  const offered = schema.format ? suggestions(schema.format) : []
  const report = (text: string) => (schema.format ? onType(schema.format, text) : undefined)
  return (
    <>
      <input
        className="input mono"
        {...(id ? { id } : { 'aria-label': label })}
        placeholder={placeholder}
        list={offered.length > 0 ? listId : undefined}
        value={typed ?? shown}
        onFocus={() => report(shown)}
        onChange={(event) => {
          setTyped(event.target.value)
          report(event.target.value)
          putText(path, typedText(event.target.value, schema))
        }}
        onBlur={() => setTyped(undefined)}
      />
      {offered.length > 0 ? <Suggestions id={listId} values={offered} /> : null}
    </>
  )
}

/** What applies as long as nothing is chosen. */
const unsetName = (above: unknown, schema: Schema): string => {
  if (above !== undefined) return `${briefly(above)}, from root`
  return schema.default === undefined ? 'not set' : `${briefly(schema.default)}, the default`
}

type ChooseProps = Pick<ControlProps, 'id' | 'path' | 'schema' | 'value' | 'above'>

function Options({ id, path, schema, value, above }: ChooseProps) {
  const { put } = useForm()
  const options = schema.enum!
  return (
    <select
      className="input"
      id={id}
      value={value === undefined ? '' : String(value)}
      onChange={(event) =>
        put(
          path,
          options.find((one) => String(one) === event.target.value),
        )
      }
    >
      <option value="">{unsetName(above, schema)}</option>
      {options.map((one) => (
        <option key={String(one)}>{String(one)}</option>
      ))}
    </select>
  )
}

const Flag = ({ id, path, schema, value, above }: ChooseProps) => {
  const { put } = useForm()
  return (
    <select
      className="input"
      id={id}
      value={value === undefined ? '' : String(value)}
      onChange={(event) => put(path, event.target.value === '' ? undefined : event.target.value === 'true')}
    >
      <option value="">{unsetName(above, schema)}</option>
      <option value="true">yes</option>
      <option value="false">no</option>
    </select>
  )
}

/** A list of texts, separated by commas. Elements that stay keep what they are, text or number. */
function Texts({ id, path, schema, value }: { id: string; path: Path; schema: Schema; value: unknown }) {
  const { putText, textOf } = useForm()
  const kept = (Array.isArray(value) ? value : []).map((one: unknown, index) => {
    const json = textOf([...path, index]) ?? ''
    return { json, shown: typeof one === 'string' ? one : json }
  })
  const [typed, setTyped] = useState<string>()
  const jsonOf = (part: string) => kept.find(({ shown }) => shown === part)?.json ?? typedText(part, schema.items ?? {})
  return (
    <input
      className="input mono"
      id={id}
      placeholder="separated by commas"
      value={typed ?? kept.map(({ shown }) => shown).join(', ')}
      onChange={(event) => {
        setTyped(event.target.value)
        const parts = event.target.value
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== '')
        putText(path, parts.length === 0 ? undefined : `[${parts.map(jsonOf).join(', ')}]`)
      }}
      onBlur={() => setTyped(undefined)}
    />
  )
}

/** A comma or a new line inside a text would divide it. */
const hasLongTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.some((one) => typeof one === 'string' && /[,\n]/.test(one))

/** Texts with lines of their own, such as statements: a field each. */
function LongTexts({ id, path, label, values }: { id: string; path: Path; label: string; values: readonly unknown[] }) {
  const { put } = useForm()
  const shown = values.length === 0 ? [''] : values.map(String)
  return (
    <div className="stack-2">
      {shown.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an element of a JSON list has no other name
        <div key={index} className="flex-row align-top">
          <textarea
            className="input mono json-field"
            {...(index === 0 ? { id } : { 'aria-label': `${label} ${index + 1}` })}
            rows={Math.min(20, Math.max(3, text.split('\n').length + 1))}
            spellCheck={false}
            value={text}
            onChange={(event) => put([...path, index], event.target.value)}
          />
          {values.length > 1 ? (
            <button
              type="button"
              className="button icon ghost small"
              aria-label={`Remove ${label} ${index + 1}`}
              title="Remove"
              onClick={() => put([...path, index], undefined)}
            >
              <Icon name="x" size="small" />
            </button>
          ) : null}
        </div>
      ))}
      <button type="button" className="button small" onClick={() => put([...path, values.length], '')}>
        <Icon name="plus" size="small" />
        <span>Add another</span>
      </button>
    </div>
  )
}

/** Encrypted values are replaced, never shown. */
export function Secret({ id, label, path }: { id: string; label: string; path: Path }) {
  const { document, put } = useForm()
  const value = valueIn(document, path)
  return <SecretInput id={id} label={label} value={value} onChange={(next) => put(path, next)} name={String(path.at(-1))} />
}

export function SecretInput({
  id,
  label,
  name,
  value,
  onChange,
}: {
  id: string
  label: string
  name: string
  value: unknown
  onChange: (value: string | undefined) => void
}) {
  if (isEncrypted(name, value))
    return (
      <span className="input" id={id}>
        <Icon name="lock" size="small" />
        <span className="mute">encrypted</span>
        <button type="button" className="link push fine" onClick={() => onChange('')}>
          Replace <span className="visually-hidden">{label}</span>
        </button>
      </span>
    )
  return (
    <input
      className="input mono"
      id={id}
      aria-label={label}
      type="password"
      autoComplete="off"
      placeholder="encrypted when it is saved"
      value={typeof value === 'string' ? value : ''}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

/** Whatever the form has no better way for. */
function JsonField({ path, label, id }: { name: string; path: Path; label: string; id?: string }) {
  const { putText, textOf } = useForm()
  const shown = pretty(textOf(path) ?? '')
  const [typed, setTyped] = useState<string>()
  const text = typed ?? shown
  const isWrong = text.trim() !== '' && parsed(text) === undefined
  return (
    <textarea
      className="input mono json-field"
      {...(id ? { id } : { 'aria-label': `${label} as JSON` })}
      rows={Math.min(12, text.split('\n').length + 1)}
      aria-invalid={isWrong}
      spellCheck={false}
      value={text}
      onChange={(event) => {
        setTyped(event.target.value)
        const json = event.target.value.trim()
        if (json === '' || parsed(json) !== undefined) putText(path, json || undefined)
      }}
      onBlur={() => (isWrong ? undefined : setTyped(undefined))}
    />
  )
}

/** True when a form can show this document at all. */
export const canShow = (schema: Schema | undefined, text: string): boolean =>
  schema !== undefined && schema.properties !== undefined && hasTypeOf({ type: 'object' }, parsed(text))
