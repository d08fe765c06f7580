// The state of a configuration or row (spec platform 1.6): the state of the component, and that of the input mapping.
//     {"component": <content of state.json>, "storage": {"input": {"tables": [...], "files": [...]}}}
// The component's part is moved as text, so that its numbers and the order of its keys stay.

import { membersOf, visitScalarsBelowHash } from '../../../kit/text/json-text.ts'

export interface TableState {
  readonly source: string
  readonly lastImportDate: string
  /** The state whose changes were read, of entries with `changes`. */
  readonly state?: string
}

export interface FileState {
  readonly tags: readonly { readonly name: string; readonly match: string }[]
  readonly lastImportId: string
}

export interface RunState {
  /** JSON text for in/state.json. */
  readonly component: string
  readonly tables: readonly TableState[]
  readonly files: readonly FileState[]
  /** Other members, kept as they are when the state is saved. */
  readonly others: ReadonlyMap<string, string>
}

export function readState(text: string): RunState {
  const members = membersOf(text)
  const isLegacy = members.size > 0 && !members.has('component') && !members.has('storage')
  // A state that was written by hand or by an older system is all the component's.
  if (isLegacy && !members.has('data_app')) return { component: text, tables: [], files: [], others: new Map() }
  const { tables, files } = readStorage(members.get('storage'))
  const others = new Map([...members].filter(([name]) => name !== 'component' && name !== 'storage'))
  return { component: members.get('component') ?? '{}', tables, files, others }
}

interface StorageState {
  readonly input?: { readonly tables?: unknown; readonly files?: unknown }
}

function readStorage(text: string | undefined): { tables: TableState[]; files: FileState[] } {
  const { input } = text === undefined ? {} : ((JSON.parse(text) ?? {}) as StorageState) // read with care below
  const tables = Array.isArray(input?.tables) ? input.tables : []
  const files = Array.isArray(input?.files) ? input.files : []
  return {
    tables: tables.filter(
      (one: Partial<TableState>) =>
        typeof one?.source === 'string' &&
        typeof one.lastImportDate === 'string' &&
        (one.state === undefined || /^state:\d+$/.test(one.state)),
    ),
    files: files.filter((one: Partial<FileState>) => Array.isArray(one?.tags) && one.lastImportId !== undefined),
  }
}

/** Every text and number below a `#` member, in clear. */
export function secretsIn(text: string): string[] {
  const found: string[] = []
  visitScalarsBelowHash(text, (literal) => {
    const value: unknown = JSON.parse(literal)
    if (typeof value === 'string' && value !== '') found.push(value)
    if (typeof value === 'number') found.push(literal)
  })
  return found
}

/** `component` is the text of out/state.json; a component that wrote none starts from the beginning next time. */
export function writeState(
  previous: RunState,
  component: string | undefined,
  tables: readonly TableState[],
  files: readonly FileState[],
): string {
  const kept = [...previous.others].map(([name, value]) => `,${JSON.stringify(name)}:${value}`).join('')
  const storage = JSON.stringify({ input: { tables, files } })
  return `{"component":${component === undefined || component.trim() === '' ? '{}' : component.trim()},"storage":${storage}${kept}}`
}
