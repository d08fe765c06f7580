// Values of answers that came from data, and secrets in arguments.

import { NOTICE } from './tool.ts'

const MAX_VALUES = 2_000
const MAX_DEPTH = 12

/** Texts inside the objects that are marked as data; undefined when nothing is marked. */
export function dataIn(found: unknown): readonly string[] | undefined {
  const values: string[] = []
  let isMarked = false
  const walk = (value: unknown, isData: boolean, depth: number): void => {
    if (values.length >= MAX_VALUES || depth > MAX_DEPTH) return
    if (typeof value === 'string') {
      if (isData && value !== NOTICE) values.push(value)
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

/** The name of a member whose secret is given in clear: ciphers begin as our own do. */
export function clearSecretIn(args: unknown, name = '', depth = 0): string | undefined {
  if (depth > MAX_DEPTH) return undefined
  const isSecret = name.slice(name.lastIndexOf('/') + 1).startsWith('#')
  if (typeof args === 'string') return isSecret && args !== '' && !/^KBC::/.test(args) ? name.slice(0, 80) : undefined
  if (typeof args !== 'object' || args === null) return undefined
  for (const [key, value] of Object.entries(args)) {
    const found = clearSecretIn(value, Array.isArray(args) ? name : key, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}
