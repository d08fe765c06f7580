import { UserError } from '../../../http-extractor/src/errors.ts'
import { bytesOf, mapRecords, textOf } from '../csv.ts'
import {
  dialectOf,
  type Folder,
  type Item,
  listItems,
  type Manifest,
  outputPath,
  passOn,
  passOnAll,
  writeManifest,
} from '../folder.ts'
import { asRecord, text } from '../parameters.ts'

type Names = ReadonlyMap<string, string>

/** Renames columns: parameters are table names (a `*` at the end stands for any rest) with `column_mapping: {old: new}`. */
export async function renameHeaders(folder: Folder): Promise<void> {
  const rules = Object.entries(asRecord(folder.parameters, 'parameters')).map(([table, rule]) => ({
    table,
    names: namesOf(table, rule),
  }))
  await passOnAll(folder, 'files')
  for (const table of await listItems(folder, 'tables')) {
    const rule = rules.find((one) => fits(one.table, table.name))
    if (rule) await rename(folder, table, rule.names)
    else await passOn(folder, table)
  }
}

function namesOf(table: string, rule: unknown): Names {
  const { column_mapping } = asRecord(rule, table)
  const names = Object.entries(asRecord(column_mapping, `${table}.column_mapping`))
  return new Map(names.map(([from, to]) => [from, text()(to, `${table}.column_mapping.${from}`)]))
}

/** The table's name with or without `.csv`. */
const fits = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name || `${pattern}.csv` === name

async function rename(folder: Folder, table: Item, names: Names): Promise<void> {
  const named = (column: string): string => names.get(column) ?? column
  if (table.manifest?.columns || table.manifest?.schema) {
    await passOn(folder, table)
    return writeManifest(folder, 'tables', table.name, renamed(table.manifest, named))
  }
  if (table.isFolder) throw new UserError(`The sliced table ${table.name} needs a manifest with its columns.`)
  let isHeader = true
  await mapRecords(table.path, outputPath(folder, 'tables', table.name), dialectOf(table.manifest), (record) => {
    if (!isHeader) return record
    isHeader = false
    return record.map((column) => bytesOf(named(textOf(column))))
  })
  if (table.manifest) await writeManifest(folder, 'tables', table.name, renamed(table.manifest, named))
}

/** Every place of a manifest that names columns. */
function renamed(manifest: Manifest, named: (column: string) => string): Manifest {
  const { columns, schema, primary_key, column_metadata } = manifest
  return {
    ...manifest,
    ...(Array.isArray(columns) ? { columns: columns.map(named) } : {}),
    ...(Array.isArray(primary_key) ? { primary_key: primary_key.map(named) } : {}),
    ...(Array.isArray(schema)
      ? { schema: schema.map((column: { name: string }) => ({ ...column, name: named(column.name) })) }
      : {}),
    ...(typeof column_metadata === 'object' && column_metadata !== null && !Array.isArray(column_metadata)
      ? { column_metadata: Object.fromEntries(Object.entries(column_metadata).map(([column, items]) => [named(column), items])) }
      : {}),
  }
}
