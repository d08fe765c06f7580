// What configurations refer to, read from their texts: tables of the mapping, tasks of flows.

import type { Db } from '../../../engines/metadata-db/dialects.ts'
import type { ConfigurationLinks } from '../../../model/lineage.ts'
import { listLinkingTexts } from './records/configurations.store.ts'

interface Linking {
  readonly storage?: { readonly input?: { readonly tables?: unknown }; readonly output?: { readonly tables?: unknown } }
  readonly tasks?: unknown
}

/** Of all components if `componentIds` is undefined; a list of them has at least one. */
export async function listLinks(
  db: Db,
  projectId: number,
  branchId: number,
  componentIds?: readonly string[],
): Promise<readonly ConfigurationLinks[]> {
  const texts = await listLinkingTexts(db, projectId, branchId, componentIds)
  return texts.map(({ content, ...place }) => ({ ...place, ...linksIn(JSON.parse(content) as Linking) })) // stored as JSON objects
}

function linksIn({ storage, tasks }: Linking): Pick<ConfigurationLinks, 'reads' | 'writes' | 'runs'> {
  return {
    reads: membersOf(storage?.input?.tables, 'source'),
    writes: membersOf(storage?.output?.tables, 'destination'),
    runs: listOf(tasks).flatMap(({ task }) => taskOf(task)),
  }
}

function taskOf(task: unknown): ConfigurationLinks['runs'] {
  const { componentId, configId } = (typeof task === 'object' && task !== null ? task : {}) as Record<string, unknown>
  return typeof componentId === 'string' && typeof configId === 'string' ? [{ componentId, configurationId: configId }] : []
}

const listOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []

const membersOf = (value: unknown, name: string): string[] => [
  ...new Set(listOf(value).flatMap((one) => (typeof one[name] === 'string' && one[name] !== '' ? [one[name]] : []))),
]
