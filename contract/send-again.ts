// Rows of a delivery, sent again: the settings of its configuration, with a query in place of the table that gives these rows only.

/** A row by the values of its key, and what is done with it. */
export interface ChosenRow {
  readonly key: readonly string[]
  /** As in a receipt: create, update, upsert or delete. */
  readonly operation?: string | undefined
}

export interface SendAgain {
  readonly componentId: string
  /** The effective configuration of the row. */
  readonly configuration: Readonly<Record<string, unknown>>
  /** Columns of the table in the project that make up its key. */
  readonly key: readonly string[]
  readonly rows: readonly ChosenRow[]
}

type Fields = Readonly<Record<string, unknown>>

/** Writers that deliver row by row. Files and messages are sent again as a whole. */
const SENDS_ROWS: readonly string[] = ['platform.wr-database', 'platform.wr-http']

/** The table that is delivered, if it is one table. */
export const deliveredTable = (configuration: Fields): string | undefined => {
  const { source } = inputsOf(configuration)[0] ?? {}
  return typeof source === 'string' && source !== '' ? source : undefined
}

/** Columns of the table that make up the key: those that the configuration names, else the primary key of the table. */
export function deliveryKey({ parameters }: Fields, tableKey: readonly string[]): readonly string[] {
  const { primaryKey, columns } = (parameters ?? {}) as Fields
  const named = Array.isArray(primaryKey) ? primaryKey.map(String) : []
  const renamed = (Array.isArray(columns) ? columns : []) as readonly { readonly source: string; readonly target?: string }[]
  return named.length > 0 ? named.map((name) => renamed.find(({ target }) => target === name)?.source ?? name) : tableKey
}

/** Why the rows of a configuration cannot be chosen; undefined when they can. */
export function notChosen({ componentId, configuration, key }: Omit<SendAgain, 'rows'>): string | undefined {
  if (!SENDS_ROWS.includes(componentId)) return 'Files and messages are sent again as a whole: run the configuration.'
  const [table, ...others] = inputsOf(configuration)
  if (!table || others.length > 0) return 'The configuration delivers no table, or more than one: open one of its rows.'
  if (key.length === 0) return 'The table has no primary key, so its rows cannot be told apart.'
  return undefined
}

/** What a job gets as configData. Rows that already exist in the target are updated: nothing is replaced and nothing is added twice. */
export function sendAgain({ componentId, configuration, key, rows }: SendAgain): Fields {
  const [table = {}] = inputsOf(configuration)
  const parameters = (configuration.parameters ?? {}) as Fields // of a saved configuration
  const storage = (configuration.storage ?? {}) as Fields
  const input = (storage.input ?? {}) as Fields
  const own = componentId === 'platform.wr-database' ? databaseParameters(parameters, key) : { primaryKey: key }
  return {
    ...configuration,
    parameters: { ...parameters, ...own },
    storage: {
      ...storage,
      input: { ...input, tables: [{ query: queryOf(table, key, rows), destination: destinationOf(table) }] },
    },
  }
}

const inputsOf = ({ storage }: Fields): readonly Fields[] => {
  const { input } = (storage ?? {}) as { readonly input?: { readonly tables?: readonly Fields[] } }
  return Array.isArray(input?.tables) ? input.tables : []
}

function databaseParameters(parameters: Fields, key: readonly string[]): Fields {
  const columns = (Array.isArray(parameters.columns) ? parameters.columns : []) as readonly Fields[]
  const targetOf = (name: string) => columns.find(({ source }) => source === name)?.target || name
  const hasKey = Array.isArray(parameters.primaryKey) && parameters.primaryKey.length > 0
  return {
    ...(hasKey ? {} : { primaryKey: key.map(targetOf) }),
    ...(parameters.mode === 'delete' ? {} : { mode: 'upsert', direct: false }),
  }
}

const destinationOf = ({ destination, source }: Fields): string =>
  String(
    destination ||
      String(source ?? 'rows')
        .split('.')
        .at(-1),
  ).replace(/\.csv$/, '')

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Of changes, each row has its operation; a deleted one is no longer in the table, and its key is all that is needed. */
function queryOf(table: Fields, key: readonly string[], rows: readonly ChosenRow[]): string {
  const { source, query, columns, changes } = table
  const names = Array.isArray(columns) && columns.length > 0 ? columns.map((name) => quoted(String(name))).join(', ') : '*'
  const from = query ? `(${String(query).replace(/;\s*$/, '')}) as chosen` : tableName(String(source))
  const tuple = `(${key.map((name) => `cast(${quoted(name)} as varchar)`).join(', ')})`
  const inRows = (list: readonly ChosenRow[]) => list.map((row) => `(${row.key.map(literal).join(', ')})`).join(', ')
  if (changes !== true) return `select ${names} from ${from} where ${tuple} in (${inRows(rows)})`
  const ofItsType = (name: string) =>
    `cast_to_type(gone.${quoted(name)}, (select ${quoted(name)} from ${from} limit 0)) as ${quoted(name)}`
  const kindOf = ({ operation }: ChosenRow) => (operation === 'delete' ? 'delete' : operation === 'create' ? 'insert' : 'update')
  return ['insert', 'update', 'delete']
    .flatMap((kind) => {
      const list = rows.filter((row) => kindOf(row) === kind)
      if (list.length === 0) return []
      return kind === 'delete'
        ? `select 'delete' as "_change", ${key.map(ofItsType).join(', ')} from (values ${inRows(list)}) as gone(${key.map(quoted).join(', ')})`
        : `select '${kind}' as "_change", ${names} from ${from} where ${tuple} in (${inRows(list)})`
    })
    .join(' union all by name ')
}

/** A table as SQL names it: bucket and table. */
function tableName(id: string): string {
  const at = id.lastIndexOf('.')
  return `${quoted(id.slice(0, at))}.${quoted(id.slice(at + 1))}`
}
