// What a trial found: each statement with its rows and its time, the first rows of the one that is chosen, and what failed.

import { useState } from 'react'
import type { TriedScript } from '../../../../../client/src/operations.ts'
import { count, duration, plural } from '../../../format.ts'
import { Icon } from '../../../parts/icon.tsx'
import { ListTable } from '../../../parts/list-table.tsx'
import { ResultRows } from '../../../views/result-rows.tsx'
import './transformation.css'

type Step = TriedScript['steps'][number]

interface TrialResultProps {
  readonly tried: TriedScript
  /** Such as "the first 1,000 rows of each table". */
  readonly over: string
}

const millis = (ms: number): string => (ms < 1000 ? `${Math.round(ms * 10) / 10} ms` : duration(ms / 1000))

const isSameStep = (one: Step, other: Step | undefined): boolean =>
  one.pointer === other?.pointer && one.statement === other.statement

export function TrialResult({ tried, over }: TrialResultProps) {
  const { steps, inputs, outputs, failure, ms } = tried
  const [chosen, setChosen] = useState<Step>()
  const shown = chosen && steps.find((step) => isSameStep(step, chosen))
  const step = shown ?? steps.findLast(({ columns }) => columns.length > 0)
  const slowest = Math.max(1, ...steps.map((one) => one.ms))
  return (
    <section className="card" aria-labelledby="trial">
      <header className="wrap">
        <h2 id="trial">
          {failure
            ? `${plural(steps.length, 'statement')} ran, then one failed`
            : `${plural(steps.length, 'statement')} in ${millis(ms)}`}
        </h2>
        <span className="fine mute">Over {over}.</span>
      </header>
      {failure ? (
        <div className="inset" role="alert">
          <div className="note failed">
            <Icon name="st-err" />
            <p className="body-text grow">{failure.message}</p>
          </div>
        </div>
      ) : null}
      {inputs.length > 0 ? (
        <p className="inset fine mute">
          Read: {inputs.map(({ name, rows }) => `${name} (${plural(rows, 'row')})`).join(', ')}.{' '}
          {outputs.length > 0 ? `Made: ${outputs.map(madeWords).join(', ')}.` : ''}
        </p>
      ) : null}
      {steps.length === 0 ? null : (
        <ListTable label="Statements" columns={['Statement', 'Makes', { num: 'Rows' }, { num: 'Time' }, { hidden: 'Show' }]}>
          {steps.map((one) => (
            <tr key={`${one.pointer} ${one.statement}`} aria-current={isSameStep(one, step) ? 'true' : undefined}>
              <td className="trial-statement">
                <div className="fine mute clip">
                  {one.block}, {one.code}, {one.statement}
                </div>
                <div className="mono clip">{firstLine(one.sql)}</div>
                {one.problem ? <div className="fine warn">{one.problem}</div> : null}
              </td>
              <td className="mono">{one.table}</td>
              <td className="numeric">{rowsWords(one)}</td>
              <td className="numeric">
                {millis(one.ms)}
                <div className="meter" aria-hidden="true">
                  <i style={{ width: `${(100 * one.ms) / slowest}%` }} />
                </div>
              </td>
              <td>
                <button
                  type="button"
                  className="button small ghost"
                  disabled={one.columns.length === 0}
                  aria-label={`Show the rows of statement ${one.statement} of ${one.code}`}
                  onClick={() => setChosen(one)}
                >
                  Rows
                </button>
              </td>
            </tr>
          ))}
        </ListTable>
      )}
      {step && step.columns.length > 0 ? <Sample step={step} /> : null}
    </section>
  )
}

const madeWords = ({ source, rows }: TriedScript['outputs'][number]): string =>
  rows === null ? `${source} was not made` : `${source} (${plural(rows, 'row')})`

const firstLine = (sql: string): string => sql.replace(/\s+/g, ' ').slice(0, 160)

function rowsWords({ rows, changedRows, sample, isCut }: Step): string {
  if (changedRows !== null && rows !== null) return `${count(rows)}, ${count(changedRows)} changed`
  if (rows !== null) return count(rows)
  return isCut ? `more than ${count(sample.length)}` : ''
}

function Sample({ step }: { step: Step }) {
  const { columns, sample, isCut, code, statement, table } = step
  const name = table ?? `statement ${statement} of ${code}`
  return (
    <div className="grid">
      <p className="inset fine mute">
        Rows of <b>{name}</b>
        {sample.length === 0 ? ': none.' : isCut ? `: the first ${count(sample.length)}.` : `: ${count(sample.length)}.`}
      </p>
      <ResultRows label={`Rows of ${name}`} className="trial-rows" columns={columns} rows={sample} />
    </div>
  )
}
