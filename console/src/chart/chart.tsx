// A result as a chart: lines, areas, bars, points, a pivot or a single figure. The rows beside it are the same as a table.

import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { count } from '../format.ts'
import { Scroll } from '../parts/scroll.tsx'
import { type ChartData, type ChartSettings, chartData, numberOf, pivotOf, type ResultRows, ticksOf } from './chart-data.ts'
import './chart.css'

interface ChartProps {
  readonly result: ResultRows
  readonly settings: ChartSettings
  /** What it shows, for those who do not see it. */
  readonly label: string
}

export function Chart({ result, settings, label }: ChartProps) {
  const { type, y = [] } = settings
  if (result.rows.length === 0) return <p className="mute">There are no rows.</p>
  if (type === 'figure') return <Figure result={result} settings={settings} />
  if (y.length === 0) return <p className="mute">A chart needs a column of numbers.</p>
  if (type === 'pivot') return <PivotTable result={result} settings={settings} label={label} />
  if (type === 'scatter') return <Points result={result} settings={settings} label={label} />
  const data = chartData(result, settings)
  return (
    <figure className="chart">
      {type === 'bar' && data.labels.length <= MAX_BARS && data.series.length === 1 ? (
        <Bars data={data} label={label} />
      ) : (
        <Lines data={data} type={type} label={label} />
      )}
      <Legend data={data} />
    </figure>
  )
}

const MAX_BARS = 30
/** Of a series, by its place. */
const colourOf = (index: number) => ({ color: `var(--c-${index + 1})` })
const FIRST_WIDTH = 720
const HEIGHT = 240
const LEFT = 56
/** Half of the longest name below the axis, so that the last one is not cut. */
const HALF_LABEL = 44
const BOTTOM = 24
const TOP = 8

const shortNumber = (value: number): string =>
  Math.abs(value) >= 1e6 ? value.toLocaleString(undefined, { notation: 'compact', maximumFractionDigits: 1 }) : count(value)

/** The figure of the last row: results end with what is newest or the only one there is. */
export const figureOf = ({ columns, rows }: ResultRows, { y = [] }: Pick<ChartSettings, 'y'>): unknown => {
  const at = columns.findIndex(({ name }) => name === y[0])
  return rows.at(-1)?.[at < 0 ? columns.length - 1 : at]
}

function Figure({ result, settings }: Omit<ChartProps, 'label'>) {
  const value = figureOf(result, settings)
  const number = numberOf(value)
  return <p className="chart-figure tabular">{number === null ? String(value ?? 'null') : number.toLocaleString()}</p>
}

const Legend = ({ data: { series, hidden } }: { data: ChartData }) =>
  series.length < 2 && hidden === '' ? null : (
    <figcaption className="flex-row wrap fine">
      {series.length < 2
        ? null
        : series.map(({ name }, index) => (
            <span key={name} className="flex-row gap-1">
              <i className="chart-key" style={colourOf(index)} />
              {name}
            </span>
          ))}
      {hidden === '' ? null : <span className="mute push">without {hidden}</span>}
    </figcaption>
  )

/** Names that are read beside their bars. */
function Bars({ data: { labels, series }, label }: { data: ChartData; label: string }) {
  const values = series[0]?.values ?? []
  const most = Math.max(...values.map((value) => Math.abs(value ?? 0)), 0) || 1
  return (
    <ul className="sql-bars" aria-label={label}>
      {labels.map((name, index) => (
        <li key={name}>
          <span className="clip" title={name}>
            {name}
          </span>
          <span className="meter">
            <i style={{ width: `${(100 * Math.abs(values[index] ?? 0)) / most}%` }} />
          </span>
          <span className="tabular numeric">{values[index] === null ? 'null' : count(values[index] ?? 0)}</span>
        </li>
      ))}
    </ul>
  )
}

/** A plot as wide as its place, so that its texts keep their size. */
function Plot({ label, children }: { label: string; children: (width: number) => ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(FIRST_WIDTH)
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.max(200, Math.round(entry?.contentRect.width ?? FIRST_WIDTH))))
    watch.observe(place.current!)
    return () => watch.disconnect()
  }, [])
  return (
    <div ref={place}>
      <svg className="chart-plot" viewBox={`0 0 ${width} ${HEIGHT}`} height={HEIGHT} role="img" aria-label={label}>
        {children(width)}
      </svg>
    </div>
  )
}

function Axis({ ticks, scale, width }: { ticks: readonly number[]; scale: (value: number) => number; width: number }) {
  return ticks.map((tick) => (
    <g key={tick}>
      <line className="chart-grid" x1={LEFT} x2={width} y1={scale(tick)} y2={scale(tick)} />
      <text className="chart-tick" x={LEFT - 6} y={scale(tick) + 4} textAnchor="end">
        {shortNumber(tick)}
      </text>
    </g>
  ))
}

const scaleOf =
  (from: number, to: number, start: number, end: number) =>
  (value: number): number =>
    to === from ? start : start + ((value - from) / (to - from)) * (end - start)

function Lines({ data: { labels, series }, type, label }: { data: ChartData; type: ChartSettings['type']; label: string }) {
  const all = series.flatMap(({ values }) => values.filter((value) => value !== null))
  const ticks = ticksOf(Math.min(...all, 0), Math.max(...all, 0))
  const y = scaleOf(ticks[0]!, ticks.at(-1)!, HEIGHT - BOTTOM, TOP)
  return <Plot label={label}>{(width) => drawn(width)}</Plot>

  function drawn(width: number): ReactNode {
    const slot = (width - LEFT) / Math.max(1, labels.length)
    const x = (index: number) => LEFT + slot * (index + 0.5)
    const every = Math.ceil(labels.length / Math.max(1, Math.floor(width / 90)))
    return (
      <>
        <Axis ticks={ticks} scale={y} width={width} />
        {labels.map((name, index) =>
          index % every === 0 ? (
            <text key={name} className="chart-tick" x={Math.min(x(index), width - HALF_LABEL)} y={HEIGHT - 6} textAnchor="middle">
              {name.length > 14 ? `${name.slice(0, 13)}…` : name}
            </text>
          ) : null,
        )}
        {series.map(({ name, values }, of) => (
          <g key={name} style={colourOf(of)}>
            {type === 'bar' ? (
              values.map((value, index) =>
                value === null ? null : (
                  <rect
                    // biome-ignore lint/suspicious/noArrayIndexKey: a bar is known by its place
                    key={index}
                    x={x(index) - slot * 0.4 + (of * slot * 0.8) / series.length}
                    width={Math.max(1, (slot * 0.8) / series.length - 1)}
                    y={Math.min(y(0), y(value))}
                    height={Math.max(1, Math.abs(y(value) - y(0)))}
                  >
                    <title>{`${name}, ${labels[index]}: ${value.toLocaleString()}`}</title>
                  </rect>
                ),
              )
            ) : (
              <>
                {runsOf(values).map((run) => {
                  const points = run.map((index) => `${x(index)},${y(values[index]!)}`)
                  return (
                    <g key={run[0]}>
                      {type === 'area' ? (
                        <polygon
                          className="chart-area"
                          points={[`${x(run[0]!)},${y(0)}`, ...points, `${x(run.at(-1)!)},${y(0)}`].join(' ')}
                        />
                      ) : null}
                      <polyline className="chart-line" points={points.join(' ')} />
                    </g>
                  )
                })}
                {values.map((value, index) =>
                  value === null ? null : (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a point is known by its place
                    <circle key={index} cx={x(index)} cy={y(value)} r={labels.length > 60 ? 1 : 3}>
                      <title>{`${name}, ${labels[index]}: ${value.toLocaleString()}`}</title>
                    </circle>
                  ),
                )}
              </>
            )}
          </g>
        ))}
      </>
    )
  }
}

/** Places beside each other that have a value: a gap is not bridged. */
function runsOf(values: readonly (number | null)[]): readonly (readonly number[])[] {
  const runs: number[][] = []
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    const last = runs.at(-1)
    if (last?.at(-1) === index - 1) last.push(index)
    else runs.push([index])
  }
  return runs
}

const MAX_POINTS = 2000

function Points({ result: { columns, rows }, settings: { x, y = [] }, label }: ChartProps) {
  const at = (name: string | undefined) => columns.findIndex((column) => column.name === name)
  const points = rows
    .slice(0, MAX_POINTS)
    .map((row) => [numberOf(row[at(x)]), numberOf(row[at(y[0])])] as const)
    .filter((point): point is readonly [number, number] => point[0] !== null && point[1] !== null)
  if (points.length === 0) return <p className="mute">Points need two columns of numbers.</p>
  const across = ticksOf(Math.min(...points.map(([one]) => one)), Math.max(...points.map(([one]) => one)), 6)
  const up = ticksOf(Math.min(...points.map(([, one]) => one)), Math.max(...points.map(([, one]) => one)))
  const toY = scaleOf(up[0]!, up.at(-1)!, HEIGHT - BOTTOM, TOP)
  return (
    <Plot label={label}>
      {(width) => {
        const toX = scaleOf(across[0]!, across.at(-1)!, LEFT, width - 12)
        return (
          <>
            <Axis ticks={up} scale={toY} width={width} />
            {across.map((tick) => (
              <text key={tick} className="chart-tick" x={toX(tick)} y={HEIGHT - 6} textAnchor="middle">
                {shortNumber(tick)}
              </text>
            ))}
            <g style={colourOf(0)}>
              {points.map(([one, two], index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a point is known by its place
                <circle key={index} cx={toX(one)} cy={toY(two)} r={4} fillOpacity={0.6}>
                  <title>{`${one.toLocaleString()}, ${two.toLocaleString()}`}</title>
                </circle>
              ))}
            </g>
          </>
        )
      }}
    </Plot>
  )
}

function PivotTable({ result, settings, label }: ChartProps) {
  const id = useId()
  const { columns, rows } = pivotOf(result, settings)
  return (
    <Scroll label={label} className="rows">
      <table className="data-table" aria-describedby={id}>
        <caption id={id} className="visually-hidden">
          Sums of {settings.y?.[0]}
        </caption>
        <thead>
          <tr>
            <th>{settings.x ?? ''}</th>
            {columns.map((name) => (
              <th key={name} className="numeric">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, values }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {values.map((value, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is known by its place
                <td key={index} className="numeric tabular">
                  {value === null ? <span className="mute fine">empty</span> : value.toLocaleString()}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
