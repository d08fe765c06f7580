// Members of the parameters, checked one by one. Each error names the place.

import { UserError } from '../../http-extractor/src/errors.ts'

export type Fields = Readonly<Record<string, unknown>>

export const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** A setting that is ignored silently does not do what its author expects. */
export function refuseUnknown(fields: Fields, known: readonly string[], place: string): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new UserError(
      `"${unknown.slice(0, 60)}" in ${place} is not known. Use ${known.filter((name) => name !== 'db').join(', ')}.`,
    )
}

export function objectAt(fields: Fields, name: string, place: string): Fields {
  const value = fields[name]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UserError(`${place} must be an object.`)
  return value as Fields // just looked at
}

export function textAt(fields: Fields, name: string, place: string): string {
  const value = fields[name]
  if (value === undefined || value === null) return ''
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') throw new UserError(`${place} must be a text.`)
  return value
}

export function listAt(fields: Fields, name: string, place: string): readonly string[] | undefined {
  const value = fields[name]
  if (isEmpty(value)) return undefined
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string' && one !== ''))
    throw new UserError(`${place} must be a list of names.`)
  return value
}

export function flagAt(fields: Fields, name: string, place: string, fallback: boolean): boolean {
  const value = fields[name]
  if (value === undefined || value === null) return fallback
  if (typeof value !== 'boolean') throw new UserError(`${place} must be true or false.`)
  return value
}

export function numberAt(fields: Fields, name: string, place: string): number | undefined {
  const value = fields[name]
  if (isEmpty(value)) return undefined
  const number = Number(value)
  if (typeof value === 'boolean' || !Number.isFinite(number) || number < 0)
    throw new UserError(`${place} must be a number of at least 0.`)
  return number
}

export function portAt(fields: Fields, name: string, place: string): number | undefined {
  const port = numberAt(fields, name, place)
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535))
    throw new UserError(`${place} must be a port: a whole number from 1 to 65535.`)
  return port
}

/** One of a few words; the first one is the default, if there is no other. */
export function choiceAt<const T extends string>(
  fields: Fields,
  name: string,
  choices: readonly [T, ...T[]],
  place = name,
  fallback: T = choices[0],
): T {
  const value = textAt(fields, name, place) || fallback
  const known = choices.find((one) => one === value)
  if (!known) throw new UserError(`${place} must be ${choices.join(', ')}, not "${value.slice(0, 40)}".`)
  return known
}
