// What a component left in `out`, read after nothing of it runs any more: every name checked, every manifest parsed.

import { join } from 'node:path'
import type { TSchema } from 'typebox'
import { readCsvHeader } from '../../../engines/runner/csv-header.ts'
import { type DataFolder, listOutputs, listSlices, type OutputEntry, readOutput } from '../../../engines/runner/data-folder.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { mapBounded } from '../../../kit/map-bounded.ts'
import type { StoredRows } from '../../../model/run-ports.ts'
import {
  FileManifest,
  type FileManifestContent,
  type Mapping,
  read,
  TableManifest,
  type TableManifestContent,
} from './mapping/mapping.ts'
import { bySource, mergeResult, needsHeader, type Result } from './mapping/output-plan.ts'

const MANIFEST_BYTES = 16 * 2 ** 20
const STATE_BYTES = 16 * 2 ** 20
const READ_AT_ONCE = 16
const SUFFIX = '.manifest'

/** A program that was ended may have left something half written; what a broken manifest belongs to can then be left out. */
type Broken = 'refuseBroken' | 'leaveOutBroken'

export async function readTableResults(
  folder: DataFolder,
  mapping: Mapping,
  broken: Broken = 'refuseBroken',
): Promise<Result<TableManifestContent>[]> {
  const results = await readResults<TableManifestContent>(folder, 'out/tables', TableManifest, broken)
  const mappedTo = bySource(mapping.outputTables)
  return mapBounded(results, READ_AT_ONCE, async (result) => {
    const mapped = mappedTo.get(result.name)
    const merged = (mapped ?? [undefined]).map((entry) => mergeResult(result.manifest ?? {}, entry))
    const unnamed = merged.find(needsHeader)
    if (result.slices || !unnamed) return result
    const dialect = { delimiter: unnamed.delimiter ?? ',', enclosure: unnamed.enclosure ?? '"' }
    return { ...result, header: await readCsvHeader(result.path, dialect) }
  })
}

/** Tables whose rows a step has left in the object store. */
export function storedResults(
  { outputTables }: Mapping,
  stored: Readonly<Record<string, StoredRows>>,
): Result<TableManifestContent>[] {
  const found = [...bySource(outputTables)].map(([name, entries]) => {
    const rows = entries.flatMap(({ destination }) => stored[destination ?? ''] ?? [])
    return { name, path: '', slices: undefined, header: rows[0]?.columns, manifest: undefined, stored }
  })
  return found.filter(({ header }) => header !== undefined)
}

export const readFileResults = (folder: DataFolder): Promise<Result<FileManifestContent>[]> =>
  readResults<FileManifestContent>(folder, 'out/files', FileManifest)

async function readResults<Manifest>(
  folder: DataFolder,
  path: string,
  schema: TSchema,
  broken: Broken = 'refuseBroken',
): Promise<Result<Manifest>[]> {
  const entries = await listOutputs(folder, path)
  const names = new Set(entries.map(({ name }) => name))
  const orphan = entries.find(({ name }) => name.endsWith(SUFFIX) && !names.has(name.slice(0, -SUFFIX.length)))
  if (orphan && broken === 'refuseBroken') throw failure(`${path}/${orphan.name} is the manifest of a file that is not there`)
  const data = entries.filter(({ name }) => !name.endsWith(SUFFIX))
  const readOne = (entry: OutputEntry) =>
    readResult<Manifest>(folder, path, entry, names.has(entry.name + SUFFIX) ? schema : undefined)
  if (broken === 'refuseBroken') return mapBounded(data, READ_AT_ONCE, readOne)
  const whole = await mapBounded(data, READ_AT_ONCE, (entry) => readOne(entry).catch(() => undefined))
  return whole.filter((result) => result !== undefined)
}

async function readResult<Manifest>(
  folder: DataFolder,
  path: string,
  entry: OutputEntry,
  schema: TSchema | undefined,
): Promise<Result<Manifest>> {
  const place = `${path}/${entry.name}${SUFFIX}`
  const manifest = schema && read(schema, parse((await readOutput(folder, place, MANIFEST_BYTES)) ?? '', place), place, failure)
  return {
    name: entry.name,
    path: entry.path,
    slices: entry.isFolder ? (await listSlices(entry.path)).map((slice) => join(entry.path, slice)) : undefined,
    header: undefined,
    manifest: manifest as Manifest | undefined, // read with the schema of this kind
  }
}

/** The text of out/state.json, as written; undefined when there is none. */
export async function readStateResult(folder: DataFolder): Promise<string | undefined> {
  const text = await readOutput(folder, 'out/state.json', STATE_BYTES)
  if (text === undefined || text.trim() === '') return undefined
  const state = parse(text, 'out/state.json')
  if (Array.isArray(state) && state.length === 0) return '{}'
  if (typeof state !== 'object' || state === null || Array.isArray(state)) throw failure('out/state.json must hold a JSON object')
  return text
}

/** out/usage.json: a list of {metric, value}. */
export async function readUsage(folder: DataFolder): Promise<readonly unknown[]> {
  const text = await readOutput(folder, 'out/usage.json', MANIFEST_BYTES)
  if (text === undefined) return []
  const usage = parse(text, 'out/usage.json')
  const isUsage = (one: { metric?: unknown; value?: unknown } | null): boolean =>
    typeof one?.metric === 'string' && one.metric !== '' && typeof one.value === 'number'
  if (!Array.isArray(usage) || !usage.every(isUsage)) {
    throw new PlatformError('jobRunner.componentBroken', {
      message: 'The component wrote an out/usage.json that is not a list of {"metric", "value"}.',
    })
  }
  return usage
}

/** Scalars of out/result.json, for the flow the job may be part of. */
export async function readResultVariables(folder: DataFolder): Promise<Readonly<Record<string, unknown>>> {
  const text = await readOutput(folder, 'out/result.json', MANIFEST_BYTES)
  const result = text === undefined ? {} : parse(text, 'out/result.json')
  const variables = typeof result === 'object' && result !== null && 'variables' in result ? result.variables : {}
  if (typeof variables !== 'object' || variables === null) return {}
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => typeof value !== 'object'))
}

function parse(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw failure(`${place} is not valid JSON`)
  }
}

const failure = (reason: string): PlatformError => new PlatformError('jobRunner.outputInvalid', { reason: `${reason}.` })
