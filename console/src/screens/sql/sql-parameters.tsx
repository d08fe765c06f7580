// Values of `$name` in a query: a field for each, with what the value is.

import { useState } from 'react'
import { PARAMETER_TYPES, type ParameterType, parametersIn } from '../../editor/sql-parameters.ts'

export interface ParameterValue {
  readonly type: ParameterType
  readonly value: string
}

export type ParameterValues = Readonly<Record<string, ParameterValue>>

const NOTHING: ParameterValue = { type: 'text', value: '' }

export function useParameters(sql: string) {
  const [values, setValues] = useState<ParameterValues>({})
  const names = parametersIn(sql)
  return {
    names,
    of: (name: string): ParameterValue => values[name] ?? NOTHING,
    set: (name: string, next: ParameterValue) => setValues({ ...values, [name]: next }),
    setAll: (next: ParameterValues) => setValues({ ...values, ...next }),
    /** As a request has them; undefined for a query without any. */
    sent: (text: string) => {
      const own = parametersIn(text)
      return own.length === 0 ? undefined : own.map((name) => ({ name, ...(values[name] ?? NOTHING) }))
    },
  }
}

export type Parameters = ReturnType<typeof useParameters>

export const ParameterFields = ({ parameters: { names, of, set } }: { parameters: Parameters }) =>
  names.length === 0 ? null : (
    <fieldset className="plain flex-row wrap gap-4" aria-label="Parameters">
      {names.map((name) => {
        const { type, value } = of(name)
        return (
          <div key={name} className="flex-row gap-1">
            <label className="flex-row gap-1">
              <span className="mono nowrap">${name}</span>
              <input
                className="input small"
                aria-label={`Value of ${name}`}
                value={value}
                onChange={(event) => set(name, { type, value: event.target.value })}
              />
            </label>
            <select
              className="input small"
              aria-label={`Type of ${name}`}
              value={type}
              onChange={(event) => set(name, { type: event.target.value as ParameterType, value })}
            >
              {PARAMETER_TYPES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </div>
        )
      })}
    </fieldset>
  )
