// A transformation before it runs: the dry run, which reads no rows, and the trial over a sample or in a workspace.

import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { ApiError } from '../../../../../client/src/client.ts'
import type { TriedScript } from '../../../../../client/src/operations.ts'
import { isRecord, parsed, valueIn } from '../../../document/json-text.ts'
import { mappedTables, readBlocks, textOfScript } from '../../../document/script-blocks.ts'
import { statementsOf, withoutHead } from '../../../editor/sql-statements.ts'
import { runAction } from '../../../facts/run-action.ts'
import { finishStorageJob } from '../../../facts/storage-job.ts'
import { useLoad } from '../../../load.tsx'
import { api } from '../../../session.ts'

export interface DryRunColumn {
  readonly name: string
  readonly type: string
  readonly from?: readonly { readonly tableId: string; readonly column: string }[] | null
}

export interface DryRun {
  readonly inputs: readonly { readonly name: string; readonly tableId: string; readonly columns: readonly DryRunColumn[] }[]
  readonly statements: readonly { readonly sql: string; readonly columns: readonly DryRunColumn[] }[]
  readonly outputs: readonly {
    readonly source: string
    readonly destination: string
    readonly columns: readonly DryRunColumn[]
  }[]
}

/** Whether the component runs SQL that can be checked before; undefined until that is known. */
export function useIsScript(componentId: string): boolean | undefined {
  const { data, error } = useLoad('syncActions.list', { query: { componentId } })
  return error ? false : data?.actions.includes('dryRun')
}

export const useDryRun = (componentId: string) =>
  useMutation<DryRun, Error, string>({ mutationFn: (text) => runAction(componentId, 'dryRun', text) })

/** A statement of the script at fault. */
export interface Fault {
  readonly block: number
  readonly code: number
  readonly statement: number
  readonly line: number
  readonly character: number
  readonly message: string
}

const POINTER = /^\/parameters\/blocks\/(\d+)\/codes\/(\d+)\//

interface FaultFacts {
  readonly pointer?: unknown
  readonly statement?: unknown
  readonly line?: unknown
  readonly character?: unknown
}

function faultAt(message: string, { pointer, statement, line, character }: FaultFacts): Fault | undefined {
  const found = typeof pointer === 'string' ? POINTER.exec(pointer) : null
  if (!found) return undefined
  return {
    ...{ block: Number(found[1]), code: Number(found[2]), statement: Number(statement ?? 1), message },
    ...{ line: Number(line ?? 1), character: Number(character ?? 1) },
  }
}

export const faultOfError = (error: Error | null): Fault | undefined =>
  error instanceof ApiError ? faultAt(error.message, { ...error.params, character: error.params.column }) : undefined

export const faultOfTrial = (tried: TriedScript | undefined): Fault | undefined =>
  tried?.failure ? faultAt(tried.failure.message, tried.failure) : undefined

/** Over the first rows of each input, over all of them, or in a workspace, where the tables stay. */
export type TrialPlace = { readonly sampleRows: number | null } | { readonly workspaceId: string }

export interface TrialRequest {
  readonly text: string
  readonly place: TrialPlace
}

export function useTrial(componentId: string) {
  const stop = useRef<AbortController>(null)
  const trial = useMutation<TriedScript, Error, TrialRequest>({
    mutationFn: ({ text, place }) => {
      stop.current = new AbortController()
      const { signal } = stop.current
      if ('workspaceId' in place) return tryInWorkspace(place.workspaceId, text, signal)
      return api.call('syncActions.trySql', { body: { componentId, configData: text, ...place }, signal })
    },
  })
  return { trial, stop: () => stop.current?.abort() }
}

const SHOWN_ROWS = 20

interface WorkspaceAnswer {
  readonly status: string
  readonly message?: string
  readonly data?: { readonly columns: readonly string[]; readonly rows: readonly Readonly<Record<string, string | null>>[] }
}

type Step = TriedScript['steps'][number]

const NO_ROWS = { rows: null, changedRows: null, columns: [], sample: [], isCut: false, problem: null } as const

/** All rows of the inputs are loaded into the workspace; then the statements run there, one after the other. */
async function tryInWorkspace(id: string, text: string, signal: AbortSignal): Promise<TriedScript> {
  const started = performance.now()
  const path = { id }
  const mapped = valueIn(parsed(text), ['storage', 'input', 'tables'])
  const input = (Array.isArray(mapped) ? mapped : []).filter(isRecord).map(loadOf)
  if (input.length > 0)
    await finishStorageJob(await api.call('workspaces.load', { path, body: { input, preserve: true }, signal }))
  const ask: Ask = async (query) => (await api.call('workspaces.query', { path, body: { query }, signal })) as WorkspaceAnswer // described loosely
  const steps: Step[] = []
  let failure: TriedScript['failure'] = null
  for (const [b, { name: block, codes }] of readBlocks(text).entries())
    for (const [c, { name: code, script }] of codes.entries())
      for (const [i, { sql }] of statementsOf(textOfScript(script)).entries()) {
        if (failure) break
        const place = { block, code, statement: i + 1, pointer: `/parameters/blocks/${b}/codes/${c}/script/0` }
        await dropBefore(sql, ask)
        const before = performance.now()
        const answer = await ask(withoutHead(sql))
        const ms = Math.round((performance.now() - before) * 10) / 10
        if (answer.status === 'error') {
          const [, line = '1', character = '1'] = /\(line (\d+), character (\d+)\)/.exec(answer.message ?? '') ?? []
          const at = { line: Number(line), character: Number(character) }
          failure = { ...place, ...at, kind: null, message: answer.message ?? 'The statement failed.' }
        } else steps.push({ ...place, sql, ms, ...(await resultOf(sql, answer, ask)) })
      }
  const outputs = mappedTables(text, 'output').map(({ source, destination }) => {
    const rows = steps.findLast(({ table }) => table === source.toLowerCase())?.rows ?? null
    return { source, destination, rows }
  })
  return { inputs: [], steps, outputs, failure, ms: Math.round(performance.now() - started) }
}

type Ask = (query: string) => Promise<WorkspaceAnswer>

/** A workspace has no last run that rows could be newer than. */
const loadOf = ({ changed_since: since, ...entry }: Readonly<Record<string, unknown>>) => ({
  ...entry,
  destination: entry.destination ?? entry.source,
  ...(since === undefined || since === 'adaptive' ? {} : { changed_since: since }),
  overwrite: true,
})

/** A script that was tried before left its tables; a run begins without them. */
async function dropBefore(sql: string, ask: Ask): Promise<void> {
  const [, kind, name] = /^create\s+(table|view)\s+("(?:[^"]|"")+"|[\w$]+)/i.exec(withoutHead(sql)) ?? []
  if (name === undefined) return
  const { status } = await ask(`drop ${kind} if exists ${name}`)
  if (status === 'error') await ask(`drop ${kind?.toLowerCase() === 'table' ? 'view' : 'table'} if exists ${name}`)
}

const CREATED =
  /^(?:create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:table|view)\s+(?:if\s+not\s+exists\s+)?|insert\s+into\s+)("(?:[^"]|"")+"|[\w$]+)/i

async function resultOf(
  sql: string,
  answer: WorkspaceAnswer,
  ask: Ask,
): Promise<Omit<Step, 'block' | 'code' | 'statement' | 'pointer' | 'sql' | 'ms'>> {
  if (answer.data) return { ...NO_ROWS, ...shownRows(answer.data), rows: answer.data.rows.length, table: null }
  const name = CREATED.exec(withoutHead(sql))?.[1]
  if (name === undefined) return { ...NO_ROWS, table: null }
  const table = (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name).toLowerCase()
  const [first, counted] = [await ask(`from ${name} limit ${SHOWN_ROWS + 1}`), await ask(`select count(*) as n from ${name}`)]
  const problem = first.status === 'error' ? (first.message ?? '') : null
  const rows = Number(counted.data?.rows[0]?.n ?? Number.NaN)
  return { ...NO_ROWS, ...(first.data ? shownRows(first.data) : {}), rows: Number.isNaN(rows) ? null : rows, problem, table }
}

const shownRows = ({ columns, rows }: NonNullable<WorkspaceAnswer['data']>) => ({
  columns: columns.map((name) => ({ name, type: '' })),
  sample: rows.slice(0, SHOWN_ROWS).map((row) => columns.map((name) => row[name] ?? null)),
  isCut: rows.length > SHOWN_ROWS,
})
