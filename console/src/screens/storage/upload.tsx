// Upload: can it be read, which lines cannot, what happens to the table, how far it is.

import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type DragEvent, useRef, useState } from 'react'
import type { SniffedFile } from '../../../../client/src/operations.ts'
import { useBucketIds } from '../../facts/storage-names.ts'
import { bytes, count, duration, plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Commands } from '../../parts/commands.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { saveAs } from '../../parts/save-as.ts'
import { Scroll } from '../../parts/scroll.tsx'
import { Suggestions } from '../../parts/suggestions.tsx'
import { Value } from '../../parts/value.tsx'
import { api, branchId } from '../../session.ts'
import { curlOf } from '../../shell/curl.tsx'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { withoutLines } from '../../upload/bad-lines.ts'
import { kindOf } from '../../upload/excel.ts'
import {
  type FileLoad,
  keepFile,
  loadCalls,
  type Plan,
  runLoad,
  type Source,
  sourceOf,
  storedSource,
} from '../../upload/load-file.ts'
import { forgetUpload, isSameFile, pendingUpload } from '../../upload/multipart.ts'
import { type Hints, sniff } from '../../upload/sniff.ts'
import { splitLines, type WholeFile } from '../../upload/whole-file.ts'
import { WholeFileCard } from './upload-whole.tsx'
import { Workbook } from './upload-workbook.tsx'
import './storage.css'

const route = getRouteApi('/upload')

const TYPES = ['STRING', 'INTEGER', 'NUMERIC', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP']
const DELIMITERS: readonly (readonly [string, string])[] = [
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'bar'],
]

export function UploadScreen() {
  const { table, bucket, file: fileId } = route.useSearch()
  const navigate = useNavigate()
  const stored = useLoad('files.get', fileId === undefined ? undefined : { path: { id: fileId }, query: {} })
  const [chosen, setChosen] = useState<File>()
  const [hints, setHints] = useState<Hints>({})
  const [aside, setAside] = useState<Aside>()
  const kind = useQuery({
    queryKey: ['kind of', chosen?.name, chosen?.size, chosen?.lastModified],
    queryFn: async () => ({ kind: await kindOf(chosen!) }),
    enabled: chosen !== undefined,
  }).data
  const binary = chosen ? kind?.kind : undefined
  const source = chosen ? sourceOf(chosen) : fileId && stored.data ? storedSource(stored.data) : undefined
  const sniffed = useQuery({
    queryKey: ['sniff', fileId, source?.name, source?.size, chosen?.lastModified, hints],
    queryFn: () => sniff(source!, hints),
    enabled: source !== undefined && (chosen === undefined || (kind !== undefined && binary === undefined)),
    placeholderData: (before) => before,
  })
  const keepAside = (good: File, bad: Blob, lines: number) => {
    setAside({
      lines: (aside?.lines ?? 0) + lines,
      content: new Blob([...(aside ? [aside.content] : []), bad], { type: 'text/csv' }),
      before: aside?.before ?? chosen!,
    })
    setChosen(good)
  }
  /** What is stored already has an address. */
  const choose = (next: { readonly file?: string }) => {
    setHints({})
    setAside(undefined)
    void navigate({ to: '/upload', search: { ...(table ? { table } : {}), ...(bucket ? { bucket } : {}), ...next } })
  }
  return (
    <Page
      title="Upload"
      crumbs={[{ name: 'Storage', to: '/storage' }, { name: 'Upload' }]}
      say={
        source && sniffed.data && binary === undefined
          ? sentenceOf(sniffed.data, aside?.lines ?? 0)
          : table
            ? `Load data into ${table}.`
            : 'Upload a file and load it into a table.'
      }
      sub={
        source
          ? `${source.name}, ${bytes(source.size)}. ${chosen ? 'Nothing is stored yet.' : 'It is a file of the project; no table has changed yet.'}`
          : undefined
      }
    >
      {stored.error ? <Problem error={stored.error} /> : null}
      {chosen && binary ? (
        <Workbook file={chosen} kind={binary} onSheet={setChosen} onReset={() => setChosen(undefined)} />
      ) : source || fileId ? (
        <Loaded query={sniffed} skeleton={<Lines count={8} />}>
          {(found) => (
            <Load
              key={`${source!.name} ${source!.size}`}
              source={source!}
              sniffed={found}
              intoTable={table}
              intoBucket={bucket}
              onHints={(next) => setHints({ ...hints, ...next })}
              onConverted={setChosen}
              aside={aside}
              onAside={async (offsets) => {
                const { good, bad, lines } = withoutLines(new Uint8Array(await chosen!.arrayBuffer()), offsets)
                const { name, type, lastModified } = chosen!
                keepAside(new File([good], name, { type, lastModified }), new Blob([bad]), lines)
              }}
              onWholeAside={(lines) => {
                const { good, bad } = splitLines(chosen!, lines)
                keepAside(good, bad, lines.length)
              }}
              onTakeBack={() => {
                setChosen(aside!.before)
                setAside(undefined)
              }}
              onReset={() => {
                setChosen(undefined)
                choose({})
              }}
            />
          )}
        </Loaded>
      ) : (
        <Drop onFile={setChosen} onStored={(id) => choose({ file: String(id) })} />
      )}
    </Page>
  )
}

/** Lines that were cut out of a file, which is still here. */
interface Aside {
  readonly lines: number
  readonly content: Blob
  readonly before: File
}

/** Formats whose content the stack reads with the load. */
const OTHER_FORMATS = {
  parquet: {
    say: 'A Parquet file: its columns are read when it is loaded.',
    how: 'Parquet: its columns become columns of text; objects and lists become JSON.',
  },
  avro: {
    say: 'An Avro file: its columns are read when it is loaded.',
    how: 'Avro: fields of its records become columns of text; objects and lists become JSON.',
  },
  excel: {
    say: 'A workbook: its first sheet is read when it is loaded.',
    how: 'Excel: the first sheet is loaded, and its first row names the columns. To choose another sheet, upload the workbook itself, not packed.',
  },
} as const

function sentenceOf({ format, rows, isWhole, problems, encoding }: SniffedFile, aside: number): string {
  if (format in OTHER_FORMATS) return OTHER_FORMATS[format as keyof typeof OTHER_FORMATS].say
  if (problems.some(({ kind }) => kind === 'encoding'))
    return `The file is written in ${encoding}, which cannot be loaded. Convert it to UTF-8.`
  const good = Math.max(0, rows - problems.filter(({ kind }) => kind === 'ragged').length) // those were counted, too
  const read = isWhole ? `${plural(good, 'row')} can be read.` : `The first ${plural(good, 'row')} can be read.`
  const kept = aside > 0 ? ` ${plural(aside, 'line is', 'lines are')} kept aside.` : ''
  return problems.length > 0 ? `${read} ${plural(problems.length, 'line')} cannot.${kept}` : `${read}${kept}`
}

function Drop({ onFile, onStored }: { onFile: (file: File | undefined) => void; onStored: (fileId: number) => void }) {
  const [isOver, setOver] = useState(false)
  const [pasted, setPasted] = useState('')
  const pending = pendingUpload()
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    onFile(event.dataTransfer.files[0])
  }
  return (
    <div className="stack-4">
      {pending ? (
        <p className="note running">
          <Icon name="upload" />
          <span className="grow">
            An upload of <b>{pending.name}</b>, {bytes(pending.sizeBytes)}, is not complete. Choose the same file to go on where
            it stopped.
          </span>
        </p>
      ) : null}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a second way; the button does the same */}
      <div
        className={`drop ${isOver ? 'over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
      >
        <Icon name="upload" size="large" />
        <p className="body-text">Drop a CSV, JSON, JSON lines, Parquet, Avro or Excel file here, also compressed with gzip.</p>
        <label className="button primary">
          Choose a file
          <input className="visually-hidden" type="file" onChange={(event) => onFile(event.target.files?.[0])} />
        </label>
      </div>
      <FromAddress onStored={onStored} />
      <section className="card" aria-labelledby="paste">
        <header>
          <h2 id="paste">Or paste rows</h2>
          <span className="fine mute">from a sheet, a mail, a query</span>
        </header>
        <Form className="inset form wide" onSubmit={() => onFile(new File([pasted], 'pasted.csv', { type: 'text/csv' }))}>
          <textarea
            className="code paste"
            aria-label="Rows to load"
            placeholder={'id,name\n1,Tea'}
            spellCheck={false}
            value={pasted}
            onChange={(event) => setPasted(event.target.value)}
          />
          <button type="submit" className="button" disabled={pasted.trim() === ''}>
            Look at these rows
          </button>
        </Form>
      </section>
    </div>
  )
}

/** The stack fetches it; what is not permitted it refuses with its own message. */
function FromAddress({ onStored }: { onStored: (fileId: number) => void }) {
  const [url, setUrl] = useState('')
  const stop = useRef<AbortController>(null)
  const fetched = useMutation({
    mutationFn: () => {
      stop.current = new AbortController()
      const branch = branchId()
      const body = { url, tags: ['console-upload'], ...(branch === undefined ? {} : { branchId: branch }) }
      return api.call('import.fetchFile', { body, signal: stop.current.signal })
    },
    onSuccess: ({ id }) => onStored(id),
  })
  const isStopped = fetched.error?.name === 'AbortError'
  return (
    <section className="card" aria-labelledby="address">
      <header>
        <h2 id="address">Or load it from a URL</h2>
        <span className="fine mute hide-small">the stack does, not your browser</span>
      </header>
      <Form className="inset form wide" onSubmit={() => fetched.mutate()}>
        <div className="flex-row wrap">
          <input
            className="input grow"
            type="url"
            required
            aria-label="Address of the file"
            placeholder="https://example.com/orders.csv.gz"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
          {fetched.isPending ? (
            <button type="button" className="button" onClick={() => stop.current?.abort()}>
              Stop
            </button>
          ) : null}
          <ActButton needs="import.fetchFile" type="submit" className="button" disabled={fetched.isPending}>
            {fetched.isPending ? 'Fetching' : 'Fetch the file'}
          </ActButton>
        </div>
        {fetched.error && !isStopped ? <Problem error={fetched.error} /> : null}
      </Form>
    </section>
  )
}

const simpleName = (text: string): string =>
  text
    .replace(/\.(csv|tsv|txt|json|jsonl|ndjson|parquet|avro|xlsx)(\.(gz|zst))?$/i, '')
    .replace(/\W+/g, '_')
    .replace(/^_+|_+$/g, '') || 'data'

interface LoadProps {
  readonly source: Source
  readonly sniffed: SniffedFile
  readonly intoTable: string | undefined
  /** Where a new table goes, unless the person chooses another. */
  readonly intoBucket: string | undefined
  readonly onHints: (hints: Hints) => void
  readonly onReset: () => void
  /** The same text in UTF-8. */
  readonly onConverted: (file: File) => void
  readonly aside: Aside | undefined
  /** Cuts out the lines with these bytes. */
  readonly onAside: (offsets: readonly number[]) => void
  /** The same for lines anywhere in the file. */
  readonly onWholeAside: (lines: WholeFile['bad']) => void
  readonly onTakeBack: () => void
}

interface Moving {
  readonly sent: number
  /** Bytes that were there when this attempt began. */
  readonly before: number
  readonly startedMs: number
}

function Load({
  source,
  sniffed,
  intoTable,
  intoBucket = 'in.c-main',
  onHints,
  onReset,
  onConverted,
  aside,
  onAside,
  onWholeAside,
  onTakeBack,
}: LoadProps) {
  const navigate = useNavigate()
  const [isEncoding, setEncoding] = useState(false)
  const [plan, setPlan] = useState<Plan>({
    bucket: intoBucket,
    table: simpleName(source.name),
    key: [],
    isIncremental: false,
    isTyped: false,
    types: {},
  })
  const change = (next: Partial<Plan>) => setPlan({ ...plan, ...next })
  const [moving, setMoving] = useState<Moving>()
  const stop = useRef<AbortController>(null)
  const load = useMutation({
    mutationFn: async () => {
      stop.current = new AbortController()
      const startedMs = Date.now()
      if (aside) await keepFile(asideName(source.name), aside.content)
      return runLoad({ source, sniffed, plan, intoTable }, stop.current.signal, (sent) =>
        setMoving((now) => ({ sent, before: now?.startedMs === startedMs ? now.before : sent, startedMs })),
      )
    },
    onSuccess: (tableId) => {
      toast(
        aside ? `${tableId} is loaded. The file ${asideName(source.name)} has the lines kept aside.` : `${tableId} is loaded.`,
      )
      void navigate({ to: '/storage/$tableId', params: { tableId } })
    },
  })
  const isPaused = load.error?.name === 'AbortError'
  const pending = pendingUpload()
  const canGoOn = isPaused || (pending !== undefined && source.from instanceof File && isSameFile(source.from, pending))
  const pause = () => stop.current?.abort()
  return (
    <div className="columns">
      <div className="stack-4">
        {(isEncoding || sniffed.problems.some(({ kind }) => kind === 'encoding')) && source.from instanceof File ? (
          <Encoding
            key={sniffed.encoding}
            file={source.from}
            guessed={sniffed.encoding === 'utf-8' ? ENCODINGS[0]! : sniffed.encoding}
            onConverted={onConverted}
          />
        ) : null}
        {aside ? <KeptAside aside={aside} name={asideName(source.name)} onTakeBack={onTakeBack} /> : null}
        {sniffed.format === 'csv' ? (
          <Dialect
            sniffed={sniffed}
            onHints={onHints}
            onReset={onReset}
            onEncoding={source.from instanceof File && !sniffed.compression ? () => setEncoding(true) : undefined}
          />
        ) : (
          <OtherFormat sniffed={sniffed} onReset={onReset} />
        )}
        {source.from instanceof File && sniffed.format === 'csv' && !sniffed.isWhole && sniffed.compression !== 'zstd' ? (
          <WholeFileCard
            key={`${sniffed.delimiter} ${sniffed.enclosure} ${sniffed.hasHeader}`}
            file={source.from}
            sniffed={sniffed}
            onAside={onWholeAside}
            onEncoding={() => setEncoding(true)}
            onUnpacked={onConverted}
          />
        ) : null}
        <Preview
          sniffed={sniffed}
          plan={plan}
          intoTable={intoTable}
          onAside={canSetAside(source, sniffed) ? () => onAside(sniffed.problems.map(({ offset }) => offset)) : undefined}
          onType={(name, type) => change({ types: { ...plan.types, [name]: type } })}
        />
      </div>
      <section className="card" aria-labelledby="plan">
        <header>
          <h2 id="plan">What it will do</h2>
        </header>
        <Form onSubmit={() => load.mutate()}>
          {intoTable ? (
            <Into tableId={intoTable} plan={plan} onChange={change} />
          ) : (
            <NewTable plan={plan} columns={sniffed.columns.map(({ name }) => name)} onChange={change} />
          )}
          {moving && (load.isPending || isPaused) ? <Progress moving={moving} total={source.size} isPaused={isPaused} /> : null}
          {load.error && !isPaused ? <Problem error={load.error} /> : null}
          <div className="flex-row wrap">
            {load.isPending ? (
              <button type="button" className="button" onClick={pause} disabled={moving?.sent === source.size}>
                <Icon name="st-pause" />
                <span>Pause</span>
              </button>
            ) : null}
            <ActButton
              needs="tables.createAsync"
              type="submit"
              className="button primary grow"
              disabled={load.isPending || !sniffed.isLoadable}
            >
              {canGoOn ? 'Resume' : intoTable ? 'Load into the table' : 'Create the table'}
            </ActButton>
          </div>
          {canGoOn && !load.isPending ? (
            <button
              type="button"
              className="link fine"
              onClick={() => {
                forgetUpload()
                load.reset()
                setMoving(undefined)
              }}
            >
              Begin anew instead
            </button>
          ) : null}
          <Calls load={{ source, sniffed, plan, intoTable }} />
        </Form>
      </section>
    </div>
  )
}

const asideName = (name: string): string => `${name.replace(/\.\w+$/, '')}.bad-lines.csv`

/** All bad lines are known only of a file that was read whole. */
const canSetAside = ({ from }: Source, { format, compression, isWhole, problems }: SniffedFile): boolean =>
  from instanceof File && format === 'csv' && !compression && isWhole && problems.every(({ kind }) => kind !== 'encoding')

interface KeptAsideProps {
  readonly aside: Aside
  readonly name: string
  readonly onTakeBack: () => void
}

const KeptAside = ({ aside: { lines, content }, name, onTakeBack }: KeptAsideProps) => (
  <p className="note running">
    <Icon name="info" />
    <span className="grow">
      {plural(lines, 'line is', 'lines are')} not loaded. With the load they become the file <b>{name}</b> of the project.
    </span>
    <button type="button" className="button small" onClick={() => saveAs(name, content)}>
      Download
    </button>
    <button type="button" className="button small" onClick={onTakeBack}>
      Put back
    </button>
  </p>
)

/** Of files that are neither UTF-8 nor marked: only a person can decide which one it is. */
const ENCODINGS = ['windows-1252', 'windows-1250', 'windows-1251', 'iso-8859-2', 'utf-16le', 'utf-16be', 'shift_jis', 'gb18030']

interface EncodingProps {
  readonly file: File
  readonly guessed: string
  readonly onConverted: (file: File) => void
}

/** Only UTF-8 can be loaded, so the browser converts the file. */
function Encoding({ file, guessed, onConverted }: EncodingProps) {
  const [encoding, setEncoding] = useState(guessed)
  const convert = useMutation({
    mutationFn: async () => {
      const text = file.stream().pipeThrough(new TextDecoderStream(encoding)).pipeThrough(new TextEncoderStream())
      return new File([await new Response(text).blob()], file.name, { type: file.type, lastModified: file.lastModified })
    },
    onSuccess: onConverted,
  })
  const sample = useQuery({
    queryKey: ['text of', file.name, file.size, file.lastModified, encoding],
    queryFn: async () => new TextDecoder(encoding).decode(await file.slice(0, 2000).arrayBuffer()).slice(0, 400),
  })
  return (
    <section className="card" aria-labelledby="encoding">
      <header>
        <h2 id="encoding">Encoding</h2>
      </header>
      <Form onSubmit={() => convert.mutate()}>
        <div className="field">
          <Label htmlFor="encoding-choice">The file is written in</Label>
          <select className="input" id="encoding-choice" value={encoding} onChange={(event) => setEncoding(event.target.value)}>
            {[...new Set([guessed, ...ENCODINGS])].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <span className="hint">Choose the one with which the text below reads right.</span>
        </div>
        <pre className="code sunken">{sample.data ?? ''}</pre>
        {convert.error ? <Problem error={convert.error} /> : null}
        <button type="submit" className="button primary" disabled={convert.isPending}>
          Convert to UTF-8
        </button>
      </Form>
    </section>
  )
}

const OtherFormat = ({ sniffed: { format, compression }, onReset }: Pick<LoadProps, 'sniffed' | 'onReset'>) => (
  <section className="card" aria-labelledby="dialect">
    <header>
      <h2 id="dialect">How it is written</h2>
      <button type="button" className="button small push" onClick={onReset}>
        Another file
      </button>
    </header>
    <p className="inset soft">
      {format in OTHER_FORMATS
        ? OTHER_FORMATS[format as keyof typeof OTHER_FORMATS].how
        : 'JSON: every object becomes a row. Objects and lists in it stay JSON.'}
      {compression ? ` Packed with ${compression}.` : ''}
    </p>
  </section>
)

interface DialectProps extends Pick<LoadProps, 'sniffed' | 'onHints' | 'onReset'> {
  /** Undefined: the stack has the file, or it is packed. */
  readonly onEncoding: (() => void) | undefined
}

function Dialect({ sniffed, onHints, onReset, onEncoding }: DialectProps) {
  const { delimiter, enclosure, encoding, compression, hasHeader, lineEnd } = sniffed
  return (
    <section className="card" aria-labelledby="dialect">
      <header>
        <h2 id="dialect">How it is written</h2>
        <span className="fine mute hide-small">found by looking; change what is wrong</span>
        <button type="button" className="button small push" onClick={onReset}>
          Another file
        </button>
      </header>
      <div className="inset flex-row wrap gap-4 dialect">
        <div className="field">
          <Label htmlFor="delimiter">Delimiter</Label>
          <select
            className="input small"
            id="delimiter"
            value={delimiter}
            onChange={(event) => onHints({ delimiter: event.target.value === '\t' ? '\\t' : event.target.value })}
          >
            {(DELIMITERS.some(([one]) => one === delimiter) ? DELIMITERS : [...DELIMITERS, [delimiter, delimiter] as const]).map(
              ([one, name]) => (
                <option key={one} value={one}>
                  {name}
                </option>
              ),
            )}
          </select>
        </div>
        <div className="field">
          <Label htmlFor="enclosure">Enclosure</Label>
          <select
            className="input small"
            id="enclosure"
            value={enclosure}
            onChange={(event) => onHints({ enclosure: event.target.value })}
          >
            <option value={'"'}>double quote</option>
            <option value="'">single quote</option>
            <option value="">none</option>
          </select>
        </div>
        <label className="check-line">
          <input type="checkbox" checked={hasHeader} onChange={(event) => onHints({ hasHeader: event.target.checked })} />
          The first line names the columns
        </label>
        <span className="mute fine push">
          {encoding}, lines end with {lineEnd}
          {compression ? `, packed with ${compression}` : ''}
        </span>
        {onEncoding ? (
          <button type="button" className="button small ghost" onClick={onEncoding}>
            Another encoding
          </button>
        ) : null}
      </div>
    </section>
  )
}

interface PreviewProps {
  readonly sniffed: SniffedFile
  readonly plan: Plan
  readonly intoTable: string | undefined
  readonly onType: (name: string, type: string) => void
  /** Undefined: they cannot be cut out here. */
  readonly onAside: (() => void) | undefined
}

function Preview({ sniffed: { format, columns, preview, problems }, plan, intoTable, onType, onAside }: PreviewProps) {
  return (
    <section className="card" aria-labelledby="head">
      <header>
        <h2 id="head">First rows</h2>
        <span className="mute fine">
          {format in OTHER_FORMATS ? 'shown once it is loaded' : plural(columns.length, 'column')}
        </span>
        {problems.length > 0 ? <span className="count failed push">{plural(problems.length, 'bad line')}</span> : null}
        {problems.length > 0 && onAside ? (
          <button type="button" className="button small" onClick={onAside}>
            Keep {plural(problems.length, 'line')} aside
          </button>
        ) : null}
      </header>
      {problems.length > 0 ? (
        <ul className="list trouble">
          {problems.map(({ line, column, message, text }) => (
            <li key={`${line} ${column}`}>
              <span className="failed">
                <Icon name="st-err" />
              </span>
              <div className="grow stack-2">
                <p>
                  <b>Line {count(line)}</b> {message}
                </p>
                <code className="bad-line clip">{text}</code>
              </div>
            </li>
          ))}
        </ul>
      ) : null}
      {format in OTHER_FORMATS ? null : (
        <Scroll label="First rows of the file" className="grid">
          <table className="data-table">
            <thead>
              <tr>
                {columns.map(({ name, type }) => (
                  <th key={name}>
                    <span className="column-name">{name}</span>
                    {plan.isTyped && !intoTable ? (
                      <select
                        className="input small"
                        aria-label={`Type of ${name}`}
                        value={plan.types[name] ?? type}
                        onChange={(event) => onType(name, event.target.value)}
                      >
                        {TYPES.map((one) => (
                          <option key={one}>{one}</option>
                        ))}
                      </select>
                    ) : (
                      <span className="fine mute">looks like {type.toLowerCase()}</span>
                    )}
                  </th>
                ))}
                {preview.some((row) => row.length > columns.length) ? (
                  <th>
                    <span className="column-name failed">no column</span>
                  </th>
                ) : null}
              </tr>
            </thead>
            <tbody>
              {preview.map((row, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: rows of a file have no other name
                <tr key={index} className={row.length === columns.length ? undefined : 'bad-row'}>
                  {row.map((value, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: nor have their fields
                    <td key={at}>
                      <Value value={value} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  )
}

interface PlanProps {
  readonly plan: Plan
  readonly onChange: (next: Partial<Plan>) => void
}

function Into({ tableId, plan, onChange }: PlanProps & { readonly tableId: string }) {
  const { data } = useLoad('tables.get', { path: { tableId } })
  const rows = data?.rowsCount ?? 0
  const key = data?.primaryKey.join(', ') ?? ''
  return (
    <fieldset className="plain stack-2">
      <legend className="label">
        Into <span className="identifier">{tableId}</span>
      </legend>
      <label className="check-line">
        <input type="radio" name="how" checked={!plan.isIncremental} onChange={() => onChange({ isIncremental: false })} />
        Replace all rows<span className="fine mute"> {plural(rows, 'row')} leave</span>
      </label>
      <label className="check-line">
        <input type="radio" name="how" checked={plan.isIncremental} onChange={() => onChange({ isIncremental: true })} />
        {key ? 'Add, and replace by key' : 'Add all rows'}
        <span className="fine mute"> {key ? `key ${key}` : 'the table has no key'}</span>
      </label>
    </fieldset>
  )
}

function NewTable({ plan, columns, onChange }: PlanProps & { readonly columns: readonly string[] }) {
  const buckets = useBucketIds(plan.bucket)
  return (
    <>
      <div className="field">
        <Label htmlFor="bucket">Bucket</Label>
        <input
          className="input"
          id="bucket"
          list="buckets"
          value={plan.bucket}
          onChange={(event) => onChange({ bucket: event.target.value })}
        />
        <Suggestions id="buckets" values={buckets} />
        <span className="hint">
          {buckets.includes(plan.bucket) ? 'An existing bucket.' : `Creates the bucket ${plan.bucket}.`}
        </span>
      </div>
      <div className="field">
        <Label htmlFor="table">Table</Label>
        <input
          className="input"
          id="table"
          required
          value={plan.table}
          onChange={(event) => onChange({ table: event.target.value })}
        />
        <span className="hint">
          Creates the table <span className="identifier">{`${plan.bucket}.${plan.table}`}</span>
        </span>
      </div>
      <div className="field">
        <Label htmlFor="key">Primary key</Label>
        <select
          className="input"
          id="key"
          value={plan.key[0] ?? ''}
          onChange={(event) => onChange({ key: event.target.value === '' ? [] : [event.target.value] })}
        >
          <option value="">none</option>
          {columns.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        {plan.key.length > 0 && columns.length > 1 ? (
          <select
            className="input small"
            aria-label="Another column of the key"
            value=""
            onChange={(event) => onChange({ key: [...plan.key, event.target.value] })}
          >
            <option value="">and</option>
            {columns
              .filter((name) => !plan.key.includes(name))
              .map((name) => (
                <option key={name}>{name}</option>
              ))}
          </select>
        ) : null}
        <span className="hint">
          {plan.key.length > 0
            ? `Rows with the same ${plan.key.join(', ')} replace each other.`
            : 'Every load adds all its rows.'}
        </span>
      </div>
      <label className="check-line" hidden={columns.length === 0}>
        <input type="checkbox" checked={plan.isTyped} onChange={(event) => onChange({ isTyped: event.target.checked })} />
        Columns with types, as the preview suggests
      </label>
    </>
  )
}

function Progress({
  moving: { sent, before, startedMs },
  total,
  isPaused,
}: {
  moving: Moving
  total: number
  isPaused: boolean
}) {
  const share = total === 0 ? 1 : Math.min(sent / total, 1)
  const rate = (sent - before) / Math.max(0.001, (Date.now() - startedMs) / 1000)
  return (
    <div className="stack-2">
      <div
        className="meter"
        role="progressbar"
        aria-label="Upload"
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${share * 100}%` }} />
      </div>
      <p className="fine mute tabular">
        {isPaused
          ? `Paused at ${bytes(sent)} of ${bytes(total)}. It can go on after a reload too.`
          : share < 1
            ? `${bytes(sent)} of ${bytes(total)}${rate > 0 ? `, ${bytes(rate)}/s, ${duration((total - sent) / rate)} left` : ''}`
            : 'Uploaded. The stack is loading it into the table.'}
      </p>
    </div>
  )
}

/** The same from a script. */
function Calls({ load }: { load: FileLoad }) {
  const { source, plan, intoTable } = load
  const calls = loadCalls(load)
  const target = intoTable ?? `${plan.bucket}.${plan.table}`
  const key = plan.key.length > 0 && !intoTable ? ` --primary-key ${plan.key.join(',')}` : ''
  return (
    <Commands
      title={`The ${calls.length} API calls this makes`}
      commands={[
        ...calls.map(({ operation, input }) => curlOf(operation, input)), // each with the input of its operation
        ...(source.from instanceof File
          ? [`npx millrace table import ${target} ${source.name}${key}${intoTable && plan.isIncremental ? ' --incremental' : ''}`]
          : []),
      ]}
    />
  )
}
