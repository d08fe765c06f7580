// How the catalogue spells projects, branches and buckets. A bucket `in.c-main` is the namespace `in`, `c-main`, or `in.c-main` in one
// piece for programs with one level only; both are read everywhere.

export interface Prefix {
  readonly projectId: number
  /** Undefined: the default branch. */
  readonly branch: string | undefined
  readonly flat: boolean
}

const FLAT = 'flat'
const PREFIX = /^(\d{1,15})(?:-(\d{1,15}))?(-flat)?$/

export const isFlat = ({ flat }: Prefix): boolean => flat

export const prefixText = ({ projectId, branch, flat }: Prefix): string =>
  [projectId, branch, flat ? FLAT : undefined].filter((part) => part !== undefined).join('-')

export function readPrefix(text: string): Prefix | undefined {
  const match = PREFIX.exec(text)
  return match ? { projectId: Number(match[1]), branch: match[2], flat: match[3] !== undefined } : undefined
}

/** `flat`, the id of a branch, or both with a slash between them, in any order. */
export function readWarehouse(text: string): { readonly branch: string | undefined; readonly flat: boolean } {
  const parts = text.split('/').filter((part) => part !== '')
  const [branch] = parts.filter((part) => part !== FLAT)
  return { branch, flat: parts.includes(FLAT) }
}

/** What separates the levels of a namespace in an address. */
const SEPARATOR = '\u001f'

/** `bucketId` is undefined when only a stage is named. */
export function namespaceOf(text: string): { readonly stage: string; readonly bucketId: string | undefined } {
  const plain = text.replaceAll(SEPARATOR, '.')
  const [stage = ''] = plain.split('.')
  return { stage, bucketId: plain.includes('.') ? plain : undefined }
}
