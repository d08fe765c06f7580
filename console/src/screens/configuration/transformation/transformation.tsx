// The editor of a SQL transformation: its blocks as an outline, the SQL of one code, the tables in and out beside it, and what a dry run or
// a trial over a sample reports about it.

import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Suspense, useId, useMemo, useRef, useState } from 'react'
import { effectiveConfiguration } from '../../../../../contract/effective-configuration.ts'
import { useEditHistory } from '../../../document/edit-history.ts'
import {
  mappedTables,
  placeInCode,
  readBlocks,
  type Spot,
  scriptOfText,
  textOfScript,
  untilSpot,
  writeScript,
} from '../../../document/script-blocks.ts'
import { LazySqlEditor } from '../../../editor/lazy.ts'
import type { SqlTable } from '../../../editor/sql-completion.ts'
import type { Insertion, TableSearch } from '../../../editor/sql-editor.tsx'
import { formattedSql } from '../../../editor/sql-format.ts'
import { useTablesNamed } from '../../../facts/storage-names.ts'
import type { ConfigurationPlace } from '../../../facts/use-configuration.ts'
import { count, duration } from '../../../format.ts'
import { useSeconds } from '../../../live.ts'
import { Lines, useLoad } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { useRefusal } from '../../../rights.ts'
import { useKey } from '../../../use-key.ts'
import { type OpenDocument, ROOT } from '../../../views/configuration-documents.ts'
import { useTableSearch } from '../../../views/table-search.ts'
import { ColumnLineage } from './column-lineage.tsx'
import { Outline } from './outline.tsx'
import { TablesAside } from './tables-aside.tsx'
import { TrialResult } from './trial-result.tsx'
import { type Fault, faultOfError, faultOfTrial, type TrialPlace, type useDryRun, useTrial } from './use-trial.ts'
import './transformation.css'

const route = getRouteApi('/components/$componentId/$configurationId')

interface TransformationProps {
  readonly place: ConfigurationPlace
  readonly root: OpenDocument
  readonly current: OpenDocument
  /** Shared with saving, which checks first. */
  readonly check: ReturnType<typeof useDryRun>
}

const SAMPLES = [1000, 10_000, 100_000]

const placeOf = (choice: string): TrialPlace => {
  if (choice.startsWith('workspace ')) return { workspaceId: choice.slice('workspace '.length) }
  return { sampleRows: choice === 'all' ? null : Number(choice) }
}

const wordsOf = (place: TrialPlace): string => {
  if ('workspaceId' in place) return `all rows, in workspace ${place.workspaceId}, which has the tables now`
  return `${place.sampleRows === null ? 'all rows' : `the first ${count(place.sampleRows)} rows of each table`}; nothing is kept`
}

/** What a run would have: a row laid over the root. */
export const textToTry = (root: OpenDocument, current: OpenDocument): string =>
  current.key === ROOT ? root.draft.text : effectiveConfiguration(root.draft.text, current.draft.text).text

export function TransformationPanes({ place, root, current, check }: TransformationProps) {
  const { code: at = '0.0' } = route.useSearch()
  const navigate = useNavigate()
  const { draft } = current
  const history = useEditHistory(draft.text, draft.edit)
  const blocks = readBlocks(draft.text)
  const [block = 0, code = 0] = at.split('.').map(Number)
  const spot: Spot & { readonly code: number } = { block, code }
  const select = ({ block: b, code: c = 0 }: Spot) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, code: `${b}.${c}` }), replace: true })
  const [choice, setChoice] = useState(String(SAMPLES[0]))
  const { trial, stop } = useTrial(place.componentId)
  const refusal = useRefusal('syncActions.trySql')
  const [started, setStarted] = useState({ ms: 0, text: '' })
  useSeconds(trial.isPending)
  const run = (text: string) => {
    if (trial.isPending || refusal !== undefined) return
    setStarted({ ms: Date.now(), text: draft.text })
    trial.mutate({ text, place: placeOf(choice) })
  }
  const toHere = () => run(current.key === ROOT ? untilSpot(draft.text, spot) : textToTry(root, current))
  useKey('Ctrl Enter', 'Try the script up to this code', toHere)
  const inputs = mappedTables(draft.text, 'input')
  const search = useTableSearch()
  const mapped = [...inputs.map(({ source }) => source), ...mappedTables(draft.text, 'output').map((one) => one.destination)]
  const tables = useTablesNamed(mapped)
  const names = useMemo(
    () => [
      ...inputs.map(({ source, destination }): SqlTable => {
        const columns = tables?.find(({ id }) => id === source)?.columns ?? []
        return { bucket: '', name: destination || source, columns }
      }),
      ...(check.data?.outputs ?? []).map(
        ({ source, columns }): SqlTable => ({
          ...{ bucket: '', name: source, columns: columns.map(({ name }) => name) },
        }),
      ),
    ],
    [inputs, tables, check.data],
  )
  const [insertion, setInsertion] = useState<Insertion>()
  const insert = (text: string) => setInsertion((before) => ({ text, number: (before?.number ?? 0) + 1 }))
  const isTried = started.text === draft.text
  const isChecked = check.variables === textToTry(root, current)
  /** Of the text as it is now. */
  const fault = useMemo(
    () => (isTried ? faultOfTrial(trial.data) : undefined) ?? (isChecked ? faultOfError(check.error) : undefined),
    [isTried, isChecked, trial.data, check.error],
  )
  const isStopped = trial.error?.name === 'AbortError'
  const chosen = blocks[block]?.codes[code]
  return (
    <div className="panes script-panes">
      <div>
        <Outline text={draft.text} history={history} selected={spot} onSelect={select} />
      </div>
      <section aria-label="SQL of the transformation">
        <div className="pane-header wrap">
          <h2 className="heading clip">{chosen ? `${blocks[block]!.name} / ${chosen.name}` : 'No code is chosen'}</h2>
          <SampleChoice value={choice} onChange={setChoice} />
          {trial.isPending ? (
            <button type="button" className="button" onClick={stop}>
              <Icon name="x" />
              <span>Stop</span>
              <span className="mute">{duration((Date.now() - started.ms) / 1000)}</span>
            </button>
          ) : (
            <>
              <ActButton needs="syncActions.trySql" className="button" onClick={() => run(textToTry(root, current))}>
                Try all
              </ActButton>
              <ActButton needs="syncActions.trySql" className="button" disabled={!chosen} onClick={toHere}>
                <Icon name="play" />
                <span>Try to here</span>
                <kbd>Ctrl Enter</kbd>
              </ActButton>
            </>
          )}
        </div>
        {chosen ? (
          <CodeEditor
            key={`${current.key} ${block}.${code}`}
            script={chosen.script}
            names={names}
            search={search}
            insertion={insertion}
            fault={fault?.block === block && fault.code === code ? fault : undefined}
            onRun={toHere}
            onChange={(script) => history.edit(writeScript(draft.text, spot, script), at)}
          />
        ) : (
          <p className="inset mute">Choose a code in the outline, or add one.</p>
        )}
        <div className="inset flex-row wrap">
          <ActButton
            needs="syncActions.run"
            className="button small"
            disabled={check.isPending}
            onClick={() => check.mutate(textToTry(root, current))}
          >
            <Icon name="check" size="small" />
            <span>{check.isPending ? 'Checking ...' : 'Check and draw the columns'}</span>
          </ActButton>
          {check.data && !check.isPending ? (
            <span className="status" role="status">
              <Icon name="check" size="small" />
              Every statement can run; no rows were read.
            </span>
          ) : null}
          {fault && (fault.block !== block || fault.code !== code) ? (
            <button type="button" className="link" onClick={() => select(fault)}>
              Go to the mistake in {blocks[fault.block]?.codes[fault.code]?.name ?? 'the code'}
            </button>
          ) : null}
        </div>
        {check.error ? <Problem error={check.error} /> : null}
        {trial.error && !isStopped ? <Problem error={trial.error} /> : null}
        {isStopped ? <p className="inset mute">The trial was stopped.</p> : null}
        <div className="inset stack-4">
          {trial.data && trial.variables ? <TrialResult tried={trial.data} over={wordsOf(trial.variables.place)} /> : null}
          {check.data ? (
            <section className="card" aria-labelledby="column-lineage">
              <header>
                <h2 id="column-lineage">Where the columns come from</h2>
                <span className="fine mute">Columns that only decide which rows are read are not shown.</span>
              </header>
              <ColumnLineage outputs={check.data.outputs} />
            </section>
          ) : null}
        </div>
      </section>
      <div>
        <TablesAside
          text={draft.text}
          tables={tables ?? []}
          made={trial.data?.outputs ?? []}
          columnsOf={(source) => check.data?.outputs.find((one) => one.source === source)?.columns.map(({ name }) => name) ?? []}
          onInsert={insert}
        />
        <p className="inset fine mute">
          <Link to="." search={(before: object) => ({ ...before, tab: 'tables' })}>
            Change the tables in and out
          </Link>
        </p>
      </div>
    </div>
  )
}

function SampleChoice({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const id = useId()
  const workspaces = (useLoad('sandboxes.list').data ?? []).filter(({ active }) => active)
  return (
    <>
      <label className="visually-hidden" htmlFor={id}>
        Rows to try it on
      </label>
      <select className="input" id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {SAMPLES.map((rows) => (
          <option key={rows} value={rows}>
            first {count(rows)} rows
          </option>
        ))}
        <option value="all">all rows</option>
        {workspaces.map(({ id: workspace, stagingWorkspaceId }) => (
          <option key={workspace} value={`workspace ${stagingWorkspaceId}`}>
            in workspace {workspace}
          </option>
        ))}
      </select>
    </>
  )
}

interface CodeEditorProps {
  readonly script: readonly string[]
  readonly names: readonly SqlTable[]
  readonly search: TableSearch
  readonly insertion: Insertion | undefined
  readonly fault: Fault | undefined
  readonly onRun: () => void
  readonly onChange: (script: readonly string[]) => void
}

/** The text as it is typed; the configuration has a list of its statements. */
function CodeEditor({ script, names, search, insertion, fault, onRun, onChange }: CodeEditorProps) {
  const written = useRef<{ readonly script: string; readonly text: string }>(undefined)
  const refusal = useRefusal('configurations.update')
  const saved = JSON.stringify(script)
  const text = written.current?.script === saved ? written.current.text : textOfScript(script)
  const change = (next: string) => {
    const list = scriptOfText(next)
    written.current = { script: JSON.stringify(list), text: next }
    onChange(list)
  }
  const mistake = useMemo(() => {
    const place = fault && placeInCode(text, fault)
    return fault && place !== undefined ? { at: place, message: fault.message } : undefined
  }, [fault, text])
  return (
    <div className="inset stack-2" title={refusal}>
      <Suspense fallback={<Lines count={6} />}>
        <LazySqlEditor
          text={text}
          tables={names}
          search={search}
          isReadOnly={refusal !== undefined}
          onChange={change}
          onRun={onRun}
          mistake={mistake}
          insertion={insertion}
        />
      </Suspense>
      <div className="flex-row wrap">
        <ActButton needs="configurations.update" className="button small" onClick={() => change(formattedSql(text))}>
          Format
        </ActButton>
        {fault ? (
          <span className="failed fine" role="note">
            Statement {fault.statement}, line {fault.line}, character {fault.character} of it.
          </span>
        ) : null}
      </div>
    </div>
  )
}
