// Rows of a result as what a chart draws. Pure.

export const CHART_TYPES = ['bar', 'line', 'area', 'scatter', 'pivot', 'figure'] as const
export type ChartType = (typeof CHART_TYPES)[number]

export interface ChartSettings {
  readonly type: ChartType
  /** Names of columns: along the bottom, the values, and what makes one line of many. */
  readonly x?: string | undefined
  readonly y?: readonly string[] | undefined
  readonly series?: string | undefined
}

export interface ResultRows {
  readonly columns: readonly { readonly name: string }[]
  readonly rows: readonly (readonly unknown[])[]
}

export interface Series {
  readonly name: string
  /** One for each label; null: nothing is drawn there. */
  readonly values: readonly (number | null)[]
}

export interface ChartData {
  readonly labels: readonly string[]
  readonly series: readonly Series[]
  /** What was left out so that the rest can be read. */
  readonly hidden: string
}

const MAX_LABELS = 400
const MAX_SERIES = 6

export const numberOf = (value: unknown): number | null =>
  value === null || value === undefined || value === '' || !Number.isFinite(Number(value)) ? null : Number(value)

const textOf = (value: unknown): string =>
  value === null || value === undefined ? 'null' : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** Columns that have numbers and nothing else. */
export function numericColumns({ columns, rows }: ResultRows): readonly string[] {
  return columns
    .filter((_, at) => {
      const given = rows.filter((row) => row[at] !== null && row[at] !== undefined && row[at] !== '')
      return given.length > 0 && given.every((row) => numberOf(row[at]) !== null)
    })
    .map(({ name }) => name)
}

/** Something that can be looked at, until a person chooses. */
export function guessedSettings(result: ResultRows, type: ChartType = 'bar'): ChartSettings {
  const numeric = numericColumns(result)
  const words = result.columns.map(({ name }) => name).filter((name) => !numeric.includes(name))
  const x = type === 'scatter' ? numeric[0] : words[0]
  const others = numeric.filter((name) => name !== x)
  const y = others.at(-1) ?? numeric.at(-1)
  return { type, x, y: y === undefined ? [] : [y], series: type === 'pivot' ? words[1] : undefined }
}

/** Values by label, one series for each column or for each value of the column `series`. Values of the same place are added. */
export function chartData({ columns, rows }: ResultRows, { x, y = [], series }: ChartSettings): ChartData {
  const at = (name: string | undefined) => columns.findIndex((column) => column.name === name)
  const [xAt, seriesAt] = [at(x), at(series)]
  const cells = new Map<string, Map<string, number>>()
  const labels = new Set<string>()
  for (const [index, row] of rows.entries()) {
    const label = xAt < 0 ? String(index + 1) : textOf(row[xAt])
    labels.add(label)
    for (const name of y) {
      const value = numberOf(row[at(name)])
      if (value === null) continue
      const key = seriesAt < 0 ? name : textOf(row[seriesAt])
      const of = cells.get(key) ?? new Map<string, number>()
      of.set(label, (of.get(label) ?? 0) + value)
      cells.set(key, of)
    }
  }
  const shown = [...labels].slice(0, MAX_LABELS)
  const keys = [...cells.keys()]
  const hidden = [
    labels.size > shown.length ? `${labels.size - shown.length} more values of ${x ?? 'the row'}` : '',
    keys.length > MAX_SERIES ? `${keys.length - MAX_SERIES} more of ${series ?? 'the columns'}` : '',
  ].filter((part) => part !== '')
  return {
    labels: shown,
    series: keys
      .slice(0, MAX_SERIES)
      .map((key) => ({ name: key, values: shown.map((label) => cells.get(key)?.get(label) ?? null) })),
    hidden: hidden.join(', '),
  }
}

export interface Pivot {
  readonly columns: readonly string[]
  readonly rows: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
}

const MAX_PIVOT = 50

/** Sums of the first value, by two columns. */
export function pivotOf({ columns, rows }: ResultRows, { x, y = [], series }: ChartSettings): Pivot {
  const at = (name: string | undefined) => columns.findIndex((column) => column.name === name)
  const [xAt, yAt, seriesAt] = [at(x), at(y[0]), at(series)]
  const sums = new Map<string, Map<string, number>>()
  const across = new Set<string>()
  for (const row of rows) {
    const key = xAt < 0 ? 'all' : textOf(row[xAt])
    const column = seriesAt < 0 ? (y[0] ?? '') : textOf(row[seriesAt])
    across.add(column)
    const of = sums.get(key) ?? new Map<string, number>()
    const value = numberOf(row[yAt])
    if (value !== null) of.set(column, (of.get(column) ?? 0) + value)
    sums.set(key, of)
  }
  const names = [...across].slice(0, MAX_PIVOT)
  return { columns: names, rows: [...sums].map(([name, of]) => ({ name, values: names.map((one) => of.get(one) ?? null) })) }
}

/** A few round numbers from below the least (at most zero) to above the greatest. */
export function ticksOf(least: number, greatest: number, count = 4): readonly number[] {
  const low = Math.min(0, least)
  const high = Math.max(0, greatest)
  if (high === low) return [0, 1]
  const raw = (high - low) / count
  const size = 10 ** Math.floor(Math.log10(raw))
  const step = size * ([1, 2, 2.5, 5, 10].find((factor) => factor * size >= raw) ?? 10)
  const first = Math.floor(low / step)
  const last = Math.ceil(high / step)
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)))
}
