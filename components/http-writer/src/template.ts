// Texts with columns in them: `contacts/{{id}}`. `{{name|xml}}` writes the value for XML, `|json` as JSON, `|url` for an address.

import type { Cells, InputTable } from '../../connector-kit/src/input-table.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { rawEncode } from '../../http-extractor/src/percent.ts'

/** What a row holds does not fit a request; only this row is affected. */
export class RowError extends Error {}

type Part = string | { readonly at: number; readonly write: Filter }
type Filter = (value: string) => string

export interface Template {
  readonly parts: readonly Part[]
  /** The one column that the template is, without a filter; undefined when it is more than that. */
  readonly column: number | undefined
}

const XML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }
const FILTERS: Readonly<Record<string, Filter>> = {
  xml: (value) => value.replace(/[&<>"']/g, (character) => XML[character] ?? ''),
  json: (value) => JSON.stringify(value),
  url: (value) => rawEncode(value),
}
const plain: Filter = (value) => value

export function parseTemplate(text: string, { columns, id }: InputTable, place: string): Template {
  const parts: Part[] = []
  let end = 0
  for (const match of text.matchAll(/\{\{([^{}]*)\}\}/g)) {
    parts.push(text.slice(end, match.index))
    const [name = '', filter] = (match[1] ?? '').split('|').map((one) => one.trim())
    const at = columns.findIndex((column) => column.name === name)
    if (at === -1)
      throw new UserError(
        `${place} names the column "${name.slice(0, 60)}", which ${id} does not have. It has ${columns.map((column) => column.name).join(', ')}.`,
      )
    const write = filter === undefined ? plain : Object.hasOwn(FILTERS, filter) ? FILTERS[filter] : undefined
    if (!write)
      throw new UserError(`${place}: "${filter?.slice(0, 40)}" is not a filter. Use ${Object.keys(FILTERS).join(', ')}.`)
    parts.push({ at, write })
    end = match.index + match[0].length
  }
  parts.push(text.slice(end))
  const filled = parts.filter((part) => part !== '')
  const [only] = filled
  const isColumn = filled.length === 1 && typeof only === 'object' && only.write === plain
  return { parts: filled, column: isColumn ? (only as { at: number }).at : undefined }
}

export const fill = ({ parts }: Template, row: Cells): string =>
  parts.map((part) => (typeof part === 'string' ? part : part.write(row[part.at] ?? ''))).join('')

/** Values are encoded, so that none leads to another place; one that is empty would address all of them. */
export function fillPath({ parts }: Template, row: Cells): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      const value = row[part.at] ?? ''
      if (value === '' || value === '.' || value === '..') throw new RowError(`"${value}" cannot be a part of the path.`)
      return rawEncode(value)
    })
    .join('')
}
