// Tables in and out: which tables a configuration reads and where its results are kept, chosen from the tables there are. It edits the
// same text as the form and the JSON view; unknown keys stay as they are.

import { isRecord, type Path, parsed, setAt, valueIn } from '../../document/json-text.ts'
import { type BrowsedTable, useBucketIds, useTableIds, useTablesNamed } from '../../facts/storage-names.ts'
import { bucketOf, tableNameOf } from '../../facts/table-id.ts'
import { count } from '../../format.ts'
import { Field, type FieldProps } from '../../parts/field.tsx'
import { HelpAbout } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { TextList } from '../../parts/text-list.tsx'
import type { OpenDocument } from '../../views/configuration-documents.ts'
import { TableSelect } from '../../views/table-select.tsx'
import './configuration.css'

const INPUT: Path = ['storage', 'input', 'tables']
const OUTPUT: Path = ['storage', 'output', 'tables']
const DEFAULT_BUCKET: Path = ['storage', 'output', 'default_bucket']

/** What the fields below show; the rest is named and kept. */
const KNOWN_IN = [
  ...['source', 'destination', 'columns', 'where_column', 'where_operator', 'where_values', 'changed_since', 'limit'],
  ...['changes', 'query'],
]
const KNOWN_OUT = [
  'source',
  'destination',
  'primary_key',
  'incremental',
  'delete_where_column',
  'delete_where_operator',
  'delete_where_values',
]

type Entry = Readonly<Record<string, unknown>>
/** Without a key: the whole entry. */
type Put = (key: string | undefined, value: unknown) => void

const entriesAt = (document: unknown, path: Path): readonly Entry[] => {
  const value = valueIn(document, path)
  return Array.isArray(value) ? value.map((one: unknown) => (isRecord(one) ? one : {})) : []
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value))
const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])
/** What is empty is left out of the configuration. */
const given = <T extends { readonly length: number }>(value: T): T | undefined => (value.length === 0 ? undefined : value)

export function MappingForm({
  document,
  inherited,
  onOpenJson,
}: {
  document: OpenDocument
  /** What applies where this document has no value: the root, for a row. */
  inherited: unknown
  onOpenJson: () => void
}) {
  const { text, edit } = document.draft
  const value = parsed(text)
  const sources = entriesAt(value, INPUT).map(({ source }) => textOf(source))
  const tables = useTablesNamed([...sources, ...entriesAt(value, OUTPUT).map(({ destination }) => textOf(destination))])
  const put = (path: Path, next: unknown) => edit(setAt(text, path, next))
  const list = (path: Path, known: readonly string[], fields: (entry: Entry, put: Put) => React.ReactNode, what: string) => {
    const entries = entriesAt(value, path)
    const above = entriesAt(inherited, path)
    return (
      <div className="stack-3">
        {entries.length === 0 && above.length > 0 ? (
          <p className="fine mute">
            From root: {above.map((one) => textOf(one.source)).join(', ')}. A table that is added here replaces them.
          </p>
        ) : null}
        {entries.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an element of a JSON list has no other name
          <section key={index} className="item" aria-label={`${what} ${index + 1}`}>
            <div className="flex-row">
              <span className="medium clip">{textOf(entry.source) || `${what} ${index + 1}`}</span>
              <Icon name="right" size="small" />
              <span className="clip mute">{textOf(entry.destination) || 'not named yet'}</span>
              <button
                type="button"
                className="button icon ghost small push"
                aria-label={`Remove ${what.toLowerCase()} ${index + 1}`}
                onClick={() => put([...path, index], undefined)}
              >
                <Icon name="x" size="small" />
              </button>
            </div>
            {fields(entry, (key, next) => put(key === undefined ? [...path, index] : [...path, index, key], next))}
            <Kept names={Object.keys(entry).filter((key) => !known.includes(key))} onOpenJson={onOpenJson} />
          </section>
        ))}
        <button type="button" className="button small" onClick={() => put([...path, entries.length], {})}>
          <Icon name="plus" size="small" />
          <span>Add {what.toLowerCase()}</span>
        </button>
      </div>
    )
  }
  return (
    <form className="form" onSubmit={(event) => event.preventDefault()}>
      <HelpAbout page="mapping" section="input-tables">
        <fieldset>
          <legend>Tables in</legend>
          <p className="fine mute legend-note">Each becomes a file that the component reads.</p>
          {list(
            INPUT,
            KNOWN_IN,
            (entry, set) => (
              <InputFields entry={entry} put={set} tables={tables} />
            ),
            'Table in',
          )}
        </fieldset>
      </HelpAbout>
      <HelpAbout page="mapping" section="output-tables">
        <fieldset>
          <legend>Tables out</legend>
          <p className="fine mute legend-note">Each file that the component writes becomes a table.</p>
          {list(
            OUTPUT,
            KNOWN_OUT,
            (entry, set) => (
              <OutputFields entry={entry} put={set} tables={tables} />
            ),
            'Table out',
          )}
          <DefaultBucket
            value={textOf(valueIn(value, DEFAULT_BUCKET))}
            above={textOf(valueIn(inherited, DEFAULT_BUCKET))}
            onChange={(next) => put(DEFAULT_BUCKET, given(next))}
          />
        </fieldset>
      </HelpAbout>
    </form>
  )
}

const Kept = ({ names, onOpenJson }: { names: readonly string[]; onOpenJson: () => void }) =>
  names.length === 0 ? null : (
    <p className="fine mute">
      Kept as JSON, not shown here:{' '}
      <button type="button" className="link identifier" onClick={onOpenJson}>
        {names.join(', ')}
      </button>
    </p>
  )

interface FieldsProps {
  readonly entry: Entry
  readonly put: Put
  /** Those that the mapping names; undefined until they are loaded. */
  readonly tables: readonly BrowsedTable[] | undefined
}

function InputFields({ entry, put, tables }: FieldsProps) {
  const table = tables?.find(({ id }) => id === entry.source)
  const columns = table?.columns ?? []
  const rows = entry.query !== undefined ? 'query' : entry.changes ? 'changes' : 'table'
  const choice = (
    <ChoiceField
      name="rows"
      label="Rows"
      value={rows}
      options={{ table: 'of a table', changes: 'changed since the last run, and deleted ones', query: 'of a query' }}
      hint={ROWS_WORDS[rows]}
      onChange={(next) =>
        put(undefined, {
          ...(next === 'query' ? { query: textOf(entry.query), destination: entry.destination ?? 'rows' } : {}),
          ...(next === 'query' ? {} : { source: entry.source, destination: entry.destination, columns: entry.columns }),
          ...(next === 'changes' ? { changes: true } : {}),
        })
      }
    />
  )
  const knownAs = (
    <TextField
      name="destination"
      label="Known as"
      value={textOf(entry.destination)}
      placeholder={textOf(entry.source)}
      hint="Name of the file that the component reads."
      onChange={(next) => put('destination', given(next))}
    />
  )
  if (rows === 'query')
    return (
      <>
        <div className="two-fields">
          {choice}
          {knownAs}
        </div>
        <Field
          name="query"
          label="Query"
          hint="SQL over tables of the project, such as from &quot;in.c-main&quot;.&quot;orders&quot;."
        >
          {(id) => (
            <textarea
              className="input mono"
              id={id}
              rows={5}
              value={textOf(entry.query)}
              onChange={(event) => put('query', event.target.value)}
            />
          )}
        </Field>
      </>
    )
  if (rows === 'changes')
    return (
      <>
        {choice}
        <div className="two-fields">
          <TablePicker value={textOf(entry.source)} tables={tables} onChange={(next) => put('source', given(next))} />
          {knownAs}
        </div>
        <Columns
          name="columns"
          label="Columns"
          all="All columns, also new ones"
          columns={columns}
          chosen={textsOf(entry.columns)}
          onChange={(next) => put('columns', given(next))}
        />
      </>
    )
  return (
    <>
      {choice}
      <div className="two-fields">
        <TablePicker value={textOf(entry.source)} tables={tables} onChange={(next) => put('source', given(next))} />
        {knownAs}
      </div>
      <Columns
        name="columns"
        label="Columns"
        all="All columns, also new ones"
        columns={columns}
        chosen={textsOf(entry.columns)}
        onChange={(next) => put('columns', given(next))}
      />
      <Filter entry={entry} put={put} columns={columns} prefix="where" label="Only rows where" />
      <div className="two-fields">
        <TextField
          name="changed_since"
          label="Loaded since"
          value={textOf(entry.changed_since)}
          placeholder="all rows"
          hint={sinceWords(textOf(entry.changed_since))}
          options={['adaptive', '-1 day', '-7 days', '-1 month']}
          onChange={(next) => put('changed_since', given(next))}
        />
        <TextField
          name="limit"
          label="At most rows"
          value={textOf(entry.limit)}
          placeholder={table?.rowsCount ? `all ${count(table.rowsCount)}` : 'all'}
          onChange={(next) => put('limit', /^\d{1,15}$/.test(next) ? Number(next) : given(next))}
        />
      </div>
    </>
  )
}

const ROWS_WORDS = {
  table: 'As they are now.',
  changes: 'The column _change says insert, update or delete. The first run gets every row as an insert.',
  query: 'The result of SQL, every time.',
} as const

/** What the present value will do. */
const sinceWords = (since: string): string => {
  if (since === '') return 'All rows, every time.'
  return since === 'adaptive' ? 'Rows loaded since the last run that went well.' : `Rows loaded since ${since}.`
}

function OutputFields({ entry, put, tables }: FieldsProps) {
  const destination = textOf(entry.destination)
  const table = tables?.find(({ id }) => id === destination)
  const [bucket, name] = destination.includes('.') ? [bucketOf(destination), tableNameOf(destination)] : ['', destination]
  const buckets = useBucketIds(bucket)
  const ofBucket = useTableIds(`${bucket}.${name}`, { enabled: bucket !== '' }).filter((id) => bucketOf(id) === bucket)
  const isIncremental = entry.incremental === true || entry.incremental === 1
  return (
    <>
      <div className="two-fields">
        <TextField
          name="source"
          label="File"
          value={textOf(entry.source)}
          placeholder="orders.csv"
          hint="Name of the file that the component writes."
          onChange={(next) => put('source', given(next))}
        />
        <TextField
          name="destination"
          label="Bucket"
          value={bucket}
          placeholder="out.c-shop"
          options={buckets}
          onChange={(next) => put('destination', given(next === '' && name === '' ? '' : `${next}.${name}`))}
        />
        <TextField
          name="destination"
          label="Table"
          value={name}
          placeholder="orders"
          options={ofBucket.map(tableNameOf)}
          hint={
            destination === '' || !tables
              ? undefined
              : table
                ? `${destination} exists.`
                : `${destination} is created by the first load.`
          }
          onChange={(next) => put('destination', given(next === '' && bucket === '' ? '' : `${bucket}.${next}`))}
        />
        <ChoiceField
          name="incremental"
          label="Keep the rows there are"
          value={isIncremental ? 'yes' : 'no'}
          options={{ no: 'no', yes: 'yes' }}
          hint={isIncremental ? 'Rows are added or replaced.' : 'The table is loaded anew.'}
          onChange={(next) => put('incremental', next === 'yes' ? true : undefined)}
        />
      </div>
      <Columns
        name="primary_key"
        label="Primary key"
        all="No primary key"
        columns={table?.columns ?? []}
        chosen={textsOf(entry.primary_key)}
        onChange={(next) => put('primary_key', given(next))}
      />
      <Filter entry={entry} put={put} columns={table?.columns ?? []} prefix="delete_where" label="Delete before rows where" />
    </>
  )
}

function DefaultBucket({ value, above, onChange }: { value: string; above: string; onChange: (next: string) => void }) {
  return (
    <div className="two-fields">
      <TextField
        name="default_bucket"
        label="Bucket of other files"
        value={value}
        placeholder={above}
        options={useBucketIds(value)}
        hint="Files without a line of their own become tables in this bucket."
        onChange={onChange}
      />
    </div>
  )
}

interface PickerProps {
  readonly value: string
  readonly tables: readonly BrowsedTable[] | undefined
  readonly onChange: (next: string) => void
}

function TablePicker({ value, tables, onChange }: PickerProps) {
  const table = tables?.find((one) => one.id === value)
  const hint = table ? `${count(table.rowsCount ?? 0)} rows` : value === '' ? 'Needed.' : 'There is no such table now.'
  return (
    <Field name="source" label="Table" hint={tables ? hint : undefined}>
      {(id) => <TableSelect id={id} value={value} none="choose a table" onChange={onChange} />}
    </Field>
  )
}

interface ChoiceFieldProps extends FieldProps {
  readonly value: string
  /** Values and what they are called. */
  readonly options: Readonly<Record<string, string>>
  readonly onChange: (next: string) => void
}

const ChoiceField = ({ value, options, onChange, ...field }: ChoiceFieldProps) => (
  <Field {...field}>
    {(id) => (
      <select className="input" id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {Object.entries(options).map(([one, name]) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Field>
)

interface ColumnsProps extends FieldProps {
  /** What applies when none is chosen. */
  readonly all: string
  readonly columns: readonly string[]
  readonly chosen: readonly string[]
  readonly onChange: (next: readonly string[]) => void
}

/** Columns of the table that there is, in the order in which they are chosen; others can be typed. */
function Columns({ all, columns, chosen, onChange, ...field }: ColumnsProps) {
  const some = columns.length > 0 ? `${chosen.length} of ${columns.length}` : `${chosen.length} chosen`
  return (
    <Field {...field} hint={chosen.length === 0 ? `${all}.` : `${some}.`}>
      {(id) => <TextList id={id} values={chosen} options={columns} onChange={onChange} />}
    </Field>
  )
}

interface FilterProps {
  readonly entry: Entry
  readonly put: Put
  readonly columns: readonly string[]
  readonly prefix: 'where' | 'delete_where'
  readonly label: string
}

/** A column, how it is compared, and values: all three or none. */
function Filter({ entry, put, columns, prefix, label }: FilterProps) {
  const [column, operator, values] = [`${prefix}_column`, `${prefix}_operator`, `${prefix}_values`]
  const isHalf = (textOf(entry[column]) === '') !== (textsOf(entry[values]).length === 0)
  return (
    <div className="two-fields three-fields">
      <TextField
        name={column}
        label={label}
        value={textOf(entry[column])}
        placeholder="a column"
        options={columns}
        onChange={(next) => put(column, given(next))}
      />
      <ChoiceField
        name={operator}
        label="Is"
        value={entry[operator] === 'ne' ? 'ne' : 'eq'}
        options={{ eq: 'one of', ne: 'none of' }}
        onChange={(next) => put(operator, next === 'ne' ? 'ne' : undefined)}
      />
      <Field name={values} label="Values" bad={isHalf ? 'A column and its values belong together.' : undefined}>
        {(id) => <TextList id={id} values={textsOf(entry[values])} onChange={(next) => put(values, given(next))} />}
      </Field>
    </div>
  )
}
