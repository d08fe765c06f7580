import { UserError } from '../../../http-extractor/src/errors.ts'
import { type Folder, listItems, passOn, passOnAll, writeManifest } from '../folder.ts'
import { asRecord, list, type Reader, readParameters, text } from '../parameters.ts'

const entry: Reader<{ key: string; value: string }> = (value, name) => {
  const { key, value: content } = asRecord(value, name)
  return { key: text()(key, `${name}.key`), value: text()(content, `${name}.value`) }
}

const tableMetadata: Reader<{ table: string; metadata: readonly { key: string; value: string }[] }> = (value, name) => {
  const { table, metadata } = asRecord(value, name)
  return { table: text()(table, `${name}.table`), metadata: list(entry)(metadata, `${name}.metadata`) }
}

/** Adds metadata to the manifests of named tables; an existing key gets the new value. */
export async function addMetadata(folder: Folder): Promise<void> {
  const { tables } = readParameters(folder.parameters, { tables: list(tableMetadata) })
  await passOnAll(folder, 'files')
  const items = await listItems(folder, 'tables')
  const missing = tables.filter(({ table }) => !items.some(({ name }) => name === table))
  if (missing.length > 0)
    throw new UserError(`Table ${missing.map(({ table }) => table).join(', ')} does not exist in in/tables.`)
  for (const item of items) {
    await passOn(folder, item)
    const added = tables.filter(({ table }) => table === item.name).flatMap(({ metadata }) => metadata)
    if (added.length > 0)
      await writeManifest(folder, 'tables', item.name, { ...item.manifest, metadata: merge(item.manifest?.metadata, added) })
  }
}

function merge(present: unknown, added: readonly { key: string }[]): unknown[] {
  const keys = new Set(added.map(({ key }) => key))
  const kept = Array.isArray(present) ? present.filter((one: { key?: unknown }) => !keys.has(String(one?.key))) : []
  return [...kept, ...added]
}
