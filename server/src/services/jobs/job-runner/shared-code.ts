// Shared code (spec platform 1.22): in lists made of scalars, an item that contains {{ rowId }} is replaced by the lines of that row.

import { itemsOf, kindOf, membersOf } from '../../../kit/text/json-text.ts'

/** `codes` are the lines of each shared code row by its id. The text is rebuilt only where a list changes. */
export function replaceSharedCode(text: string, codes: ReadonlyMap<string, readonly string[]>): string {
  if (codes.size === 0 || !text.includes('{{')) return text
  const kind = kindOf(text)
  if (kind === 'object') {
    const members = [...membersOf(text)].map(([name, value]) => `${JSON.stringify(name)}:${replaceSharedCode(value, codes)}`)
    return `{${members.join(',')}}`
  }
  if (kind !== 'array') return text
  const items = itemsOf(text)
  const scalars = items.every((item) => !['object', 'array'].includes(kindOf(item)))
  return `[${items.flatMap((item) => (scalars ? spliced(item, codes) : [replaceSharedCode(item, codes)])).join(',')}]`
}

function spliced(item: string, codes: ReadonlyMap<string, readonly string[]>): string[] {
  if (kindOf(item) !== 'string') return [item]
  const match = /\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}/.exec(JSON.parse(item) as string) // a string literal parses to a string
  const lines = match && codes.get(match[1]!)
  return lines ? lines.map((line) => JSON.stringify(line)) : [item]
}
