// What a chart shows: its kind, and the columns it is drawn from.

import {
  CHART_TYPES,
  type ChartSettings,
  type ChartType,
  guessedSettings,
  numericColumns,
  type ResultRows,
} from './chart-data.ts'

export const TYPE_NAMES: Readonly<Record<ChartType, string>> = {
  bar: 'Bars',
  line: 'Lines',
  area: 'Areas',
  scatter: 'Points',
  pivot: 'Pivot',
  figure: 'Figure',
}

interface ChoicesProps {
  readonly result: ResultRows
  readonly settings: ChartSettings
  readonly onChange: (next: ChartSettings) => void
}

export function ChartChoices({ result, settings, onChange }: ChoicesProps) {
  const { type, x, y = [], series } = settings
  const names = result.columns.map(({ name }) => name)
  const numeric = numericColumns(result)
  return (
    <div className="flex-row wrap">
      <Choose name="Kind" value={type} onChange={(next) => onChange(guessedSettings(result, next as ChartType))}>
        {CHART_TYPES.map((one) => (
          <option key={one} value={one}>
            {TYPE_NAMES[one]}
          </option>
        ))}
      </Choose>
      {type === 'figure' ? null : (
        <Choose
          name={type === 'pivot' ? 'Rows' : 'What'}
          value={x ?? ''}
          onChange={(next) => onChange({ ...settings, x: next || undefined })}
        >
          {type === 'scatter' ? null : <option value="">number of the row</option>}
          {(type === 'scatter' ? numeric : names).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Choose>
      )}
      <Choose name="How much" value={y[0] ?? ''} onChange={(next) => onChange({ ...settings, y: [next] })}>
        {(type === 'figure' ? names : numeric).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Choose>
      {type === 'scatter' || type === 'figure' ? null : (
        <Choose
          name={type === 'pivot' ? 'Columns' : 'One for each'}
          value={series ?? ''}
          onChange={(next) => onChange({ ...settings, series: next || undefined })}
        >
          <option value="">none</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Choose>
      )}
    </div>
  )
}

interface ChooseProps {
  readonly name: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly children: React.ReactNode
}

const Choose = ({ name, value, onChange, children }: ChooseProps) => (
  <label className="flex-row">
    <span className="mute nowrap">{name}</span>
    <select className="input small" aria-label={name} value={value} onChange={(event) => onChange(event.target.value)}>
      {children}
    </select>
  </label>
)
