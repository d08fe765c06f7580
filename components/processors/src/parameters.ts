// Parameters of a processor: every known name with its reader, anything else refused by name.

import { UserError } from '../../http-extractor/src/errors.ts'

export type Reader<T> = (value: unknown, name: string) => T

type Values<Shape> = { readonly [Name in keyof Shape]: Shape[Name] extends Reader<infer T> ? T : never }

export function readParameters<Shape extends Record<string, Reader<unknown>>>(given: unknown, shape: Shape): Values<Shape> {
  const source = asRecord(given ?? {}, 'parameters')
  for (const name of Object.keys(source)) {
    if (!(name in shape)) throw new UserError(`Unknown parameter "${name}". Known: ${Object.keys(shape).join(', ') || 'none'}.`)
  }
  const values = Object.fromEntries(Object.entries(shape).map(([name, read]) => [name, read(source[name], name)]))
  return values as Values<Shape> // each name of the shape was read with its own reader
}

export const text =
  (fallback?: string): Reader<string> =>
  (value, name) => {
    if (value === undefined && fallback !== undefined) return fallback
    if (typeof value !== 'string') throw wrong(name, value, 'a text')
    return value
  }

export const integer =
  (fallback?: number): Reader<number> =>
  (value, name) => {
    if (value === undefined && fallback !== undefined) return fallback
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
    if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0)
      throw wrong(name, value, 'a whole number from 0')
    return number
  }

export const flag =
  (fallback: boolean): Reader<boolean> =>
  (value, name) => {
    if (value === undefined) return fallback
    if (typeof value !== 'boolean') throw wrong(name, value, 'true or false')
    return value
  }

export const optional =
  <T>(read: Reader<T>): Reader<T | undefined> =>
  (value, name) =>
    value === undefined ? undefined : read(value, name)

export const choice =
  <const T extends string>(choices: readonly T[], fallback?: T): Reader<T> =>
  (value, name) => {
    const found = choices.find((one) => one === (value ?? fallback))
    if (found === undefined) throw wrong(name, value, `one of ${choices.join(', ')}`)
    return found
  }

export const list =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (value, name) => {
    if (!Array.isArray(value)) throw wrong(name, value, 'a list')
    return value.map((item, index) => read(item, `${name}[${index}]`))
  }

export const listOrNone =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (value, name) =>
    value === undefined ? [] : list(read)(value, name)

export function asRecord(value: unknown, name: string): Readonly<Record<string, unknown>> {
  // PHP writes an empty object as a list.
  if (Array.isArray(value) && value.length === 0) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(name, value, 'an object')
  return value as Readonly<Record<string, unknown>> // just checked
}

const wrong = (name: string, value: unknown, wanted: string): UserError =>
  new UserError(
    value === undefined
      ? `The parameter "${name}" is missing; it must be ${wanted}.`
      : `The parameter "${name}" must be ${wanted}, not ${JSON.stringify(value)}.`,
  )
