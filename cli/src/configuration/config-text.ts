// Configurations as the command line writes and compares them: JSON text whose tokens are never changed, only laid out.

import { layOutJson } from '../../../contract/json-layout.ts'
import { itemsOf, membersOf } from '../../../server/src/kit/text/json-text.ts'

/** The members of a file of `millrace config pull`, each with its JSON text. */
export type FileMembers = Readonly<Record<string, string>>

export interface RowFile {
  readonly id: string
  readonly members: FileMembers
}

export interface ConfigurationFile {
  readonly componentId: string
  readonly id: string
  readonly version: number
  readonly members: FileMembers
  readonly rows: readonly RowFile[]
}

const ROW_MEMBERS = ['name', 'description', 'isDisabled', 'configuration'] as const
const MEMBERS = [...ROW_MEMBERS, 'rowsSortOrder'] as const

/** Two spaces, one member a line; numbers, key order and escapes stay as they are. */
export const laidOut = (text: string): string => `${layOutJson(text).trim()}\n`

export const objectText = (members: FileMembers): string =>
  `{${Object.entries(members)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
    .join(',')}}`

/** A configuration record of the API (or a version of one) as its files. */
export function filesOf(componentId: string, record: string): ConfigurationFile {
  const members = membersOf(record)
  const rows = itemsOf(members.get('rows') ?? '[]').map((row) => {
    const of = membersOf(row)
    return { id: stringOf(of.get('id')), members: pick(of, ROW_MEMBERS) }
  })
  return {
    componentId,
    id: stringOf(members.get('id')),
    version: Number(members.get('version')),
    members: pick(members, MEMBERS),
    rows: rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  }
}

const pick = (members: ReadonlyMap<string, string>, names: readonly string[]): FileMembers =>
  Object.fromEntries(names.filter((name) => members.has(name)).map((name) => [name, members.get(name)!]))

export const stringOf = (text: string | undefined): string => (text === undefined ? '' : String(JSON.parse(text)))

/** Everything of a configuration in one text, for a line diff. */
export function wholeText({ members, rows }: ConfigurationFile): string {
  const withRows = { ...members, rows: objectText(Object.fromEntries(rows.map((row) => [row.id, objectText(row.members)]))) }
  return laidOut(objectText(withRows))
}
