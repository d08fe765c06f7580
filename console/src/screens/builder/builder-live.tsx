// What the API answers to exactly this: the request as sent, the response, its items, the rows they become, what follows and why it stops.

import { type UseMutationResult, useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { jobPath, textAt } from '../../builder/extractor-document.ts'
import { isRecord, parsed, prettyStart, setAt } from '../../document/json-text.ts'
import { Coloured } from '../../editor/effective-view.tsx'
import { EXTRACTOR } from '../../facts/names.ts'
import { runAction } from '../../facts/run-action.ts'
import { bytes, count, plural } from '../../format.ts'
import { Teach } from '../../listing.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { Status, StatusIcon } from '../../parts/status.tsx'
import { Value } from '../../parts/value.tsx'
import { shellQuoted } from '../../shell/curl.tsx'
import './builder.css'

interface SentRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface WalkTable {
  readonly table: string
  readonly columns: readonly string[]
  readonly rowCount: number
  readonly rows: readonly (readonly string[])[]
}

export interface WalkStep {
  readonly kind: 'login' | 'page'
  readonly page?: number
  readonly request: SentRequest
  readonly response: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly bytes: number
  }
  readonly durationMs: number
  readonly warning?: string | null
  readonly itemCount?: number
  readonly items?: readonly unknown[]
  readonly tables?: readonly WalkTable[]
}

export interface Walk {
  readonly steps: readonly WalkStep[]
  readonly next: { readonly stop?: string; readonly request?: SentRequest }
  readonly error: string | null
  readonly pages: number
  /** Of a walk through the whole plan: the tables of all jobs together. */
  readonly tables?: readonly WalkTable[]
  readonly recording?: string
}

/** What to fetch of every request and its children, and the most that the extractor allows (docs/extractor.md, builder actions). */
const PLAN_LIMITS = [
  { name: 'pages', otherwise: 2, most: 10, label: 'Pages of each request', words: ['', 'pages of each,'] },
  { name: 'items', otherwise: 2, most: 20, label: 'Items with children', words: ['children of', 'items,'] },
  { name: 'requests', otherwise: 30, most: 100, label: 'Requests in all', words: ['at most', 'requests'] },
] as const
type PlanLimits = Readonly<Record<(typeof PLAN_LIMITS)[number]['name'], number>>

/** The login only with 0 pages; `plan`: every request with its children. */
export interface WalkRequest {
  readonly pages: number
  readonly plan?: PlanLimits
}

/** An action of the extractor over a configuration that need not be saved. */
export const extractorAction = (action: string, configData: string): Promise<unknown> => runAction(EXTRACTOR, action, configData)

export const manifestAction = (action: string, configData: string): Promise<unknown> =>
  runAction('platform.ex-manifest', action, configData)

/** Walks, live or through a recording; with `record` the exchanges come back too. */
export async function fetchWalk(
  effective: string,
  index: number,
  { pages, plan }: WalkRequest,
  more: { readonly replay?: string | undefined; readonly record?: boolean } = {},
): Promise<Walk> {
  const values = {
    pages,
    job: index,
    ...plan,
    ...(more.replay === undefined ? {} : { replay: more.replay }),
    ...(more.record ? { record: true } : {}),
  }
  const asked = Object.entries(values).reduce((text, [name, value]) => setAt(text, ['parameters', name], value), effective)
  const walk = (await extractorAction(plan ? 'walkPlan' : 'walkPages', asked)) as Walk
  return { ...walk, next: walk.next ?? {}, pages }
}

export const useWalk = (effective: string, index: number, replay: string | undefined) =>
  useMutation<Walk, Error, WalkRequest>({ mutationFn: (request) => fetchWalk(effective, index, request, { replay }) })

export function LivePane({
  walk,
  page,
  onPage,
  onFetch,
  above,
  document,
  index,
}: {
  walk: UseMutationResult<Walk, Error, WalkRequest>
  page: number | undefined
  onPage: (page: number) => void
  onFetch: (request: WalkRequest) => void
  above: ReactNode
  document: unknown
  index: number
}) {
  const steps = walk.data?.steps ?? []
  const shown = steps[page ?? steps.length - 1]
  return (
    <section aria-label="Live" className="live-pane">
      <div className="pane-head">
        <h2 className="heading">Live</h2>
        <ActButton
          needs="syncActions.run"
          className="button small push"
          disabled={walk.isPending}
          onClick={() => onFetch({ pages: 0 })}
        >
          Login only
        </ActButton>
        <ActButton
          needs="syncActions.run"
          className="button small"
          disabled={walk.isPending}
          onClick={() => onFetch({ pages: 1 })}
        >
          1 page
        </ActButton>
        <ActButton
          needs="syncActions.run"
          className="button small primary"
          disabled={walk.isPending}
          onClick={() => onFetch({ pages: 3 })}
        >
          <Icon name="play" size="small" />
          <span>Fetch 3 pages</span>
          <kbd>Ctrl ↵</kbd>
        </ActButton>
      </div>
      <WholePlan isBusy={walk.isPending} onFetch={onFetch} />
      {above}
      {walk.isPending ? <p className="inset mute">Asking the API …</p> : null}
      {walk.error ? <Problem error={walk.error} /> : null}
      {walk.data ? <Stations walk={walk.data} shown={page ?? steps.length - 1} onPage={onPage} /> : null}
      {walk.data?.error ? (
        <div className="inset">
          <div className="note failed" role="alert">
            <Icon name="st-err" />
            <p>{walk.data.error}</p>
          </div>
        </div>
      ) : null}
      {shown ? (
        <Exchange step={shown} document={document} index={index} />
      ) : walk.data || walk.isPending || walk.error ? null : (
        <Nothing />
      )}
      {walk.data?.tables && walk.data.tables.length > 0 ? <RowsItBecomes tables={walk.data.tables} /> : null}
      {walk.data && !walk.data.tables ? <WhatFollows walk={walk.data} /> : null}
    </section>
  )
}

/** A walk through everything that a run would request, within limits that are seen and can be changed. */
function WholePlan({ isBusy, onFetch }: { isBusy: boolean; onFetch: (request: WalkRequest) => void }) {
  const [limits, setLimits] = useState<PlanLimits>(
    () => Object.fromEntries(PLAN_LIMITS.map(({ name, otherwise }) => [name, otherwise])) as unknown as PlanLimits,
  )
  const isAllowed = PLAN_LIMITS.every(({ name, most }) => limits[name] >= 1 && limits[name] <= most)
  return (
    <div className="flex-row wrap fine soft plan">
      <ActButton
        needs="syncActions.run"
        className="button small"
        disabled={isBusy || !isAllowed}
        onClick={() => onFetch({ pages: limits.pages, plan: limits })}
      >
        Whole plan
      </ActButton>
      {PLAN_LIMITS.map(({ name, most, label, words }) => (
        <span key={name} className="flex-row gap-1 nowrap">
          {words[0]}
          <input
            className="input small tabular"
            type="number"
            min={1}
            max={most}
            aria-label={label}
            title={`1 to ${most}`}
            value={limits[name] || ''}
            onChange={(event) => setLimits({ ...limits, [name]: Math.floor(event.target.valueAsNumber) || 0 })}
          />
          {words[1]}
        </span>
      ))}
    </div>
  )
}

const Nothing = () => (
  <Teach>
    Fetch the first pages to see the request as it is sent, the answer, its items, the rows they become, and the request that
    follows. Unsaved values are used too. Nothing is stored.
  </Teach>
)

const statusOf = (step: WalkStep): string => (step.response.status < 400 ? 'success' : 'error')

/** Of a walk through the plan: the end of the address. */
const nameOf = (step: WalkStep): string => {
  if (step.kind === 'login') return 'Login'
  return step.page === undefined ? new URL(step.request.url).pathname.split('/').slice(-2).join('/') : `Page ${step.page}`
}

const Stations = ({ walk, shown, onPage }: { walk: Walk; shown: number; onPage: (page: number) => void }) => (
  <fieldset className="walk" aria-label="Requests">
    {walk.steps.map((step, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the order of requests is what names them
      <button key={index} type="button" className="walk-step" aria-pressed={index === shown} onClick={() => onPage(index)}>
        <b>
          <StatusIcon status={statusOf(step)} />
          {nameOf(step)}
        </b>
        <span className="walk-note">
          {step.itemCount === undefined
            ? `${step.response.status}, ${count(step.durationMs)} ms`
            : plural(step.itemCount, 'item')}
        </span>
      </button>
    ))}
    {walk.next.request ? (
      <span className="walk-step walk-end">
        <b>
          <StatusIcon status="created" />
          Next
        </b>
        <span className="walk-note">not sent</span>
      </span>
    ) : null}
  </fieldset>
)

/** `*****` of the server becomes six dots on their ground. */
const Masked = ({ text }: { text: string }) =>
  text.split('*****').map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
    <span key={index}>
      {index > 0 ? <span className="secret">••••••</span> : null}
      {part}
    </span>
  ))

const curlOf = ({ method, url, headers, body }: SentRequest): string =>
  [
    `curl -X ${method} ${shellQuoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${shellQuoted(body)}`]),
  ].join(' \\\n  ')

function Exchange({ step, document, index }: { step: WalkStep; document: unknown; index: number }) {
  const { request, response } = step
  const dataField = textAt(document, [...jobPath(index), 'dataField'])
  return (
    <>
      <div className="pane-section">
        <h3>
          Request as sent
          <span className="push">
            <CopyButton text={curlOf(request)} label="curl" />
          </span>
        </h3>
        <div className="request-line">
          <span className="request-method">{request.method}</span>
          <Masked text={request.url} />
          {Object.entries(request.headers).map(([name, header]) => (
            <span key={name} className="heading">
              {name}: <Masked text={header} />
            </span>
          ))}
          {request.body ? (
            <span className="heading">
              <Masked text={request.body} />
            </span>
          ) : null}
        </div>
      </div>
      <div className="pane-section two-panes">
        <div>
          <div className="flex-row sec-h">
            <h3>Response</h3>
            <Status status={statusOf(step)} text={String(response.status)} />
            <span className="fine mute tabular">
              {count(step.durationMs)} ms, {bytes(response.bytes)}
            </span>
          </div>
          <ResponseView response={response} />
        </div>
        <div>
          <div className="flex-row sec-h">
            <h3>Items</h3>
            <span className="fine mute">
              {step.itemCount === undefined ? 'none here' : `${count(step.itemCount)}${dataField ? ` at ${dataField}` : ''}`}
            </span>
          </div>
          {step.warning ? <p className="fine warn sec-h">{step.warning}</p> : null}
          <dl className="pairs fine sec-h">
            {fieldsOf(step.items ?? []).map(({ name, kind, share }) => (
              <div key={name} className="contents">
                <dt className="mono">{name}</dt>
                <dd className="flex-row">
                  <span className="mute">{kind}</span>
                  <span className="push mute tabular">{share}</span>
                </dd>
              </div>
            ))}
          </dl>
        </div>
      </div>
      {step.tables && step.tables.length > 0 ? <RowsItBecomes tables={step.tables} /> : null}
    </>
  )
}

const VIEWS = ['Pretty', 'Raw', 'Headers'] as const
const SHOWN_LINES = 400

function ResponseView({ response }: { response: WalkStep['response'] }) {
  const [view, setView] = useState<(typeof VIEWS)[number]>('Pretty')
  const value = parsed(response.body)
  const lines = (value === undefined ? prettyStart(response.body) : JSON.stringify(value, null, 2)).split('\n')
  const isCut = value === undefined && new Blob([response.body]).size < response.bytes
  return (
    <>
      <fieldset className="segments small" aria-label="View of the response">
        {VIEWS.map((one) => (
          <button key={one} type="button" aria-pressed={one === view} onClick={() => setView(one)}>
            {one}
          </button>
        ))}
      </fieldset>
      {isCut ? (
        <p className="fine mute sec-h">
          The first {count(response.body.length)} characters of {bytes(response.bytes)}.
        </p>
      ) : null}
      <Scroll label="Response" className="json">
        {view === 'Pretty' ? (
          <pre className="code">
            {lines.slice(0, SHOWN_LINES).map((line, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text
              <span key={at} className="block">
                <Coloured text={line} />
              </span>
            ))}
            {lines.length > SHOWN_LINES ? (
              <span className="block mute">… {count(lines.length - SHOWN_LINES)} more lines</span>
            ) : null}
          </pre>
        ) : view === 'Raw' ? (
          <pre className="code wrap">{response.body}</pre>
        ) : (
          <dl className="pairs fine">
            {Object.entries(response.headers).map(([name, header]) => (
              <div key={name} className="contents">
                <dt className="mono">{name}</dt>
                <dd className="mono">
                  <Masked text={header} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Scroll>
    </>
  )
}

/** What the items have, how it is written and in how many of them. */
function fieldsOf(items: readonly unknown[]): readonly { name: string; kind: string; share: string }[] {
  const records = items.filter(isRecord)
  const names = [...new Set(records.flatMap((item) => Object.keys(item)))]
  return names.slice(0, 40).map((name) => {
    const values = records.map((item) => item[name]).filter((value) => value !== undefined && value !== null)
    const kinds = [
      ...new Set(values.map((value) => (Array.isArray(value) ? 'list' : typeof value === 'string' ? 'text' : typeof value))),
    ]
    const share = values.length === records.length ? 'all' : `${Math.round((100 * values.length) / records.length)} %`
    return { name, kind: kinds.join(' or ') || 'empty', share: kinds.includes('list') ? 'own table' : share }
  })
}

const RowsItBecomes = ({ tables }: { tables: readonly WalkTable[] }) => (
  <div className="pane-section">
    <h3>
      Rows it becomes
      {tables.map(({ table, rowCount }) => (
        <span key={table} className="tag-label">
          {table} {count(rowCount)}
        </span>
      ))}
    </h3>
    <Scroll label="Resulting rows" className="grid">
      <table className="data-table">
        <thead>
          <tr>
            {tables[0]!.columns.map((column) => (
              <th key={column}>{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tables[0]!.rows.slice(0, 5).map((row) => (
            <tr key={row.join('\u0000')}>
              {row.map((value, at) => (
                <td key={tables[0]!.columns[at]} className="mono fine">
                  <Value value={value} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  </div>
)

const WhatFollows = ({ walk }: { walk: Walk }) => {
  const pages = walk.steps.filter(({ kind }) => kind === 'page').length
  return (
    <div className="two-panes">
      <div className="next-request">
        <h3>Next request</h3>
        {walk.next.request ? (
          <code className="fine">
            <Masked text={`${walk.next.request.method} ${walk.next.request.url}`} />
          </code>
        ) : (
          <p className="fine mute">None.</p>
        )}
      </div>
      <div className="next-request">
        <h3>Why it stopped</h3>
        <p className="fine soft">
          {walk.error
            ? 'The request failed.'
            : (walk.next.stop ??
              (walk.pages === 0
                ? 'Only the login was requested.'
                : `You requested ${plural(walk.pages, 'page')}, and ${pages === 1 ? 'it was' : 'they were'} fetched. A full run continues.`))}
        </p>
      </div>
    </div>
  )
}
