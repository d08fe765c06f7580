// Pages of lists, and their compact form: additions of Millrace to lists that answer everything otherwise.

import { Type } from 'typebox'
import { PlatformError } from '../kit/errors.ts'
import { Offset } from './parameters.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

const MAX_PAGE = 1000
/** Of a compact list without a page. */
export const EVERYTHING = 2 ** 31 - 1

export const PAGE_PARAMETERS = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE,
      description:
        'Maximum number of items; all by default. The response then has the total number in the header X-Millrace-Total.',
    }),
  ),
  offset: Offset,
  fields: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Fields to return, separated by commas, for a compact list; all by default.' }),
  ),
}

/** Undefined: everything is meant. */
export const pageFrom = ({ limit, offset }: { readonly limit?: number; readonly offset?: number }): Page | undefined =>
  limit === undefined && offset === undefined ? undefined : { limit: limit ?? MAX_PAGE, offset: offset ?? 0 }

export function fieldsFrom(text: string | undefined): readonly string[] | undefined {
  const names = (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length === 0) return undefined
  const wrong = names.find((name) => !/^[A-Za-z]{1,64}$/.test(name))
  if (wrong !== undefined)
    throw new PlatformError('validation.failed', {
      field: 'fields',
      reason: `"${wrong.slice(0, 60)}" is not the name of a member.`,
    })
  return names
}

/** Only these members; those that an object does not have are left out. */
export const picked = (view: object, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(fields.flatMap((name) => (Object.hasOwn(view, name) ? [[name, view[name as keyof typeof view]]] : [])))
