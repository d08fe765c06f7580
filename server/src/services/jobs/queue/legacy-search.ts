// The search of the older job service (spec platform 2.10), turned into ours: other names, and a query in the words of its index.

import type { Query } from './job-search.ts'
import { refusal } from './refusal.ts'

/** Fields of the older record that can be searched, with our names. */
const FIELDS: Readonly<Record<string, string>> = {
  id: 'id',
  runId: 'runId',
  status: 'status',
  'params.component': 'componentId',
  'params.config': 'configId',
  'params.mode': 'mode',
  'project.id': 'projectId',
  'token.id': 'tokenId',
  'token.description': 'tokenDescription',
}
const NAMES: Readonly<Record<string, string>> = { since: 'createdTimeFrom', until: 'createdTimeTo' }
const TERM = /\s*(?:AND\s+)?\+?([A-Za-z.]+):("(?:[^"\\]|\\.)*"|[^\s"]+)\s*/y

/** Parameters that are no search: `include` selects what the records show. */
export function legacySearch({ q, include: _, ...rest }: Query): Record<string, unknown> {
  const search: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [NAMES[name] ?? name, value]),
  )
  for (const [name, values] of termsOf(String(q ?? ''))) {
    if (name in search) throw refusal('q', `"${name}" is duplicated, here and as a separate parameter.`)
    search[name] = values
  }
  return search
}

/** `+params.config:123 AND status:"error"`; a field that is named again may have either value. */
function termsOf(q: string): Map<string, string[]> {
  const terms = new Map<string, string[]>()
  TERM.lastIndex = 0
  for (let at = 0; at < q.trimEnd().length; at = TERM.lastIndex) {
    TERM.lastIndex = at
    const [, field = '', written = ''] = TERM.exec(q) ?? []
    const value = written.startsWith('"') ? written.slice(1, -1).replace(/\\(.)/g, '$1') : written
    if (field === 'component' && value === 'docker') continue // every job of the older service has it
    const name = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined
    if (!name)
      throw refusal(
        'q',
        `This value should be made of field:value, joined by AND. The fields are ${Object.keys(FIELDS).join(', ')}.`,
      )
    terms.set(name, [...(terms.get(name) ?? []), value])
  }
  return terms
}
