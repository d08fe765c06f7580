// Metadata of buckets as the API shows it: a linked bucket shows that of its source as it is now, and its own beside it.

import type { Bucket } from './buckets.store.ts'
import type { SharingRules } from './sharing.ts'

/** Views of the items, by bucket. */
export type MetadataViews = (
  projectId: number,
  buckets: readonly number[],
) => Promise<ReadonlyMap<number, readonly { readonly provider: string; readonly key: string }[]>>

export type ShownMetadata = ReturnType<typeof createShownMetadata>

export function createShownMetadata(views: MetadataViews, sharing: Pick<SharingRules, 'sourceOf'>) {
  return async (found: readonly Bucket[]): Promise<ReadonlyMap<number, readonly unknown[]>> => {
    const shown = new Map<number, readonly unknown[]>()
    for (const [projectId, group] of Map.groupBy(found, (bucket) => bucket.projectId)) {
      const keys = group.map(({ key }) => key)
      const own = await views(projectId, keys)
      for (const bucket of group) shown.set(bucket.key, await withSource(bucket, own.get(bucket.key) ?? []))
    }
    return shown
  }

  async function withSource(bucket: Bucket, own: readonly { readonly provider: string; readonly key: string }[]) {
    const source = (await sharing.sourceOf(bucket))?.bucket
    if (!source) return own
    const theirs = (await views(source.projectId, [source.key])).get(source.key) ?? []
    const nameOf = ({ provider, key }: { readonly provider: string; readonly key: string }) => `${provider}\n${key}`
    const taken = new Set(theirs.map(nameOf))
    return [...theirs, ...own.filter((item) => !taken.has(nameOf(item)))]
  }
}
