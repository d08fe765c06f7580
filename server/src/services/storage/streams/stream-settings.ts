// The settings of a source in the words of the public service: when a batch is loaded.

import { invalidStream } from './columns.ts'
import { DEFAULT_LIMITS } from './sources.ts'
import type { BatchLimits } from './streams.store.ts'

interface Setting {
  readonly key: string
  readonly limit: keyof BatchLimits
  readonly type: 'int' | 'string'
  readonly description: string
  readonly min: number
  readonly max: number
  show(value: number): number | string
  /** Undefined when it is not a value of the setting. */
  read(value: unknown): number | undefined
}

const PREFIX = 'storage.level.target.import.trigger'
const SIZE_UNITS: Readonly<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6 }
const TIME_UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 }

const withUnit = (value: unknown, pattern: RegExp, units: Readonly<Record<string, number>>): number | undefined => {
  const match = typeof value === 'string' ? pattern.exec(value) : null
  return match ? Number(match[1]) * units[match[2]!]! : undefined
}

const SETTINGS: readonly Setting[] = [
  {
    key: `${PREFIX}.count`,
    limit: 'records',
    type: 'int',
    description: 'A batch is loaded when it has so many records.',
    min: 1,
    max: 1_000_000,
    show: (value) => value,
    read: (value) => (typeof value === 'number' && Number.isInteger(value) ? value : undefined),
  },
  {
    key: `${PREFIX}.size`,
    limit: 'bytes',
    type: 'string',
    description: 'A batch is loaded when it has so many bytes, such as "50MB".',
    min: 100,
    max: 100_000_000,
    show: (value) => `${value}B`,
    read: (value) => withUnit(value, /^(\d{1,12})\s*(B|KB|MB)$/, SIZE_UNITS),
  },
  {
    key: `${PREFIX}.interval`,
    limit: 'ageMs',
    type: 'string',
    description: 'A batch is loaded when its first record is so old, such as "1m".',
    min: 1000,
    max: 86_400_000,
    show: (value) => `${value / 1000}s`,
    read: (value) => withUnit(value, /^(\d{1,6})(s|m|h)$/, TIME_UNITS),
  },
]

export const settingsView = (limits: BatchLimits) =>
  SETTINGS.map(({ key, limit, type, description, show }) => ({
    key,
    type,
    description,
    value: show(limits[limit]),
    defaultValue: show(DEFAULT_LIMITS[limit]),
    overwritten: limits[limit] !== DEFAULT_LIMITS[limit],
  }))

export function readSettings(
  limits: BatchLimits,
  changes: readonly { readonly key: string; readonly value?: unknown }[],
): BatchLimits {
  const changed = { ...limits }
  for (const [index, { key, value }] of changes.entries()) {
    const setting = SETTINGS.find((one) => one.key === key)
    if (!setting)
      throw invalidStream(
        `settings[${index}].key`,
        `"${key.slice(0, 80)}" is not a setting. There are ${SETTINGS.map((one) => one.key).join(', ')}.`,
      )
    const read = value === null ? DEFAULT_LIMITS[setting.limit] : setting.read(value)
    if (read === undefined || read < setting.min || read > setting.max)
      throw invalidStream(
        `settings[${index}].value`,
        `${setting.description} It is between ${setting.show(setting.min)} and ${setting.show(setting.max)}.`,
      )
    changed[setting.limit] = read
  }
  return changed
}
