// Values of answers that came from data, and secrets in arguments.

import { isRawNumber } from '../../../kit/text/exact-numbers.ts'
import { NOTICE } from './tool.ts'

const MAX_VALUES = 2_000
const MAX_DEPTH = 12
/** Shorter numbers are in all data. */
const MIN_DIGITS = 8

/** Texts and long numbers inside the objects that are marked as data; undefined when nothing is marked. */
export function dataIn(found: unknown): readonly string[] | undefined {
  const values: string[] = []
  let isMarked = false
  const walk = (value: unknown, isData: boolean, depth: number): void => {
    if (values.length >= MAX_VALUES || depth > MAX_DEPTH) return
    if (typeof value === 'string') {
      if (isData && value !== NOTICE) values.push(value)
      return
    }
    if (typeof value === 'number' || isRawNumber(value)) {
      const digits = JSON.stringify(value)
      if (isData && digits.length >= MIN_DIGITS) values.push(digits)
      return
    }
    if (typeof value !== 'object' || value === null) return
    const isNow = isData || ('notice' in value && value.notice === NOTICE)
    isMarked ||= isNow
    for (const member of Object.values(value)) walk(member, isNow, depth + 1)
  }
  walk(found, false, 0)
  return isMarked ? values : undefined
}

const MAX_GIVEN = 20_000

/**
 * Whether a value is not in the arguments of a call: a tool that reads an address of its caller and returns a part of it has read nothing.
 * A value of data in arguments was remembered when it was read.
 */
export function notGivenIn(args: unknown): (value: string) => boolean {
  const texts: string[] = []
  const walk = (value: unknown, depth: number): void => {
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH)
      for (const member of Object.values(value)) walk(member, depth + 1)
  }
  walk(args, 0)
  const given = texts.join('\n')
  return given.length > MAX_GIVEN ? () => true : (value) => !given.includes(value)
}

interface ClearSecret {
  readonly name: string
  /** Names from the arguments down to it. */
  readonly path: readonly string[]
}

/** A member whose secret is given in clear: ciphers begin as our own do. */
export function clearSecretIn(args: unknown): ClearSecret | undefined {
  return secretsIn(args).find(({ value }) => typeof value === 'string' && value !== '' && !/^KBC::/.test(value))
}

/** JSON pointers of secrets that are left to a person: their members are empty. */
export const emptySecretsIn = (content: unknown): string[] =>
  secretsIn(content).flatMap(({ value, path }) => (value === '' || value === null ? [pointerOf(path)] : []))

/** The same of values by JSON pointer. */
export const emptySecretsAt = (values: Readonly<Record<string, unknown>>): string[] =>
  secretsIn(values).flatMap(({ value, path: [pointer = '', ...rest] }) =>
    value === '' || value === null ? [`${pointer}${pointerOf(rest)}`] : [],
  )

/** Where in the configuration a secret of the arguments belongs; undefined where no argument names the place. */
export function secretPointer([argument, ...path]: readonly string[]): string | undefined {
  if (argument === 'content') return pointerOf(path)
  const [pointer = '', ...rest] = path
  return argument === 'set' ? `${pointer}${pointerOf(rest)}` : undefined
}

export const pointerOf = (path: readonly string[]): string =>
  path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Scalars whose nearest named member is a secret; names may be JSON pointers. */
function secretsIn(content: unknown): (ClearSecret & { readonly value: unknown })[] {
  const found: (ClearSecret & { readonly value: unknown })[] = []
  const walk = (value: unknown, name: string, path: readonly string[]): void => {
    if (path.length > MAX_DEPTH) return
    if (typeof value !== 'object' || value === null) {
      if (name.slice(name.lastIndexOf('/') + 1).startsWith('#')) found.push({ name: name.slice(0, 80), path, value })
      return
    }
    for (const [key, member] of Object.entries(value)) walk(member, Array.isArray(value) ? name : key, [...path, key])
  }
  walk(content, '', [])
  return found
}
