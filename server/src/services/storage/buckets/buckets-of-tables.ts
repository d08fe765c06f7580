// Buckets as the tables module sees them: found, checked for permission, shown, and made for loads.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { MetadataPair } from '../../../http/metadata-items.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type EventSource, NO_ORIGIN, type Origin } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import { bucketView, type Usage } from './bucket-view.ts'
import type { Buckets } from './buckets.ts'
import type { SharingRules } from './sharing.ts'
import type { ShownMetadata } from './shown-metadata.ts'

/** Metadata about the creator of a bucket, by provider. */
interface CreationMetadata {
  readonly provider: string
  readonly whenCreated?: readonly MetadataPair[]
}

export interface BucketsOfTablesDeps {
  readonly buckets: Buckets
  readonly sharing: SharingRules
  readonly usage: (buckets: readonly number[], trx?: Trx) => Promise<ReadonlyMap<number, Usage>>
  readonly shownMetadata: ShownMetadata
}

export function createBucketsOfTables({ buckets, sharing, usage, shownMetadata }: BucketsOfTablesDeps) {
  /** As the API shows it: with its metadata, tables as an address. */
  async function view({ key }: { readonly key: number }, baseUrl: string, trx?: Trx): Promise<object> {
    const bucket = await buckets.store.findByKey(key, trx)
    if (!bucket) throw new PlatformError('storage.tables.dropped')
    const shown = bucket.sourceKey ?? bucket.key
    return bucketView(bucket, baseUrl, {
      usage: (await usage([shown], trx)).get(shown),
      source: await sharing.sourceOf(bucket),
      backend: await buckets.backendName(bucket.projectId),
      metadata: (await shownMetadata([bucket])).get(key) ?? [],
    })
  }

  /** A bucket for the tables of a load, with the metadata about its creator. */
  async function createForLoad(
    requester: Scope & { readonly origin: Origin },
    bucketId: string,
    metadata: readonly CreationMetadata[],
  ): Promise<void> {
    const [stage = '', name = ''] = bucketId.split('.')
    const bucket = await buckets.create(requester, { stage, name }, requester.origin)
    for (const { provider, whenCreated = [] } of metadata)
      if (whenCreated.length > 0) await buckets.setMetadata(requester.actor, bucket, provider, whenCreated, requester.origin)
  }

  return {
    get: buckets.get,
    getForChange: buckets.getForChange,
    list: buckets.list,
    findByKey: (key: number) => buckets.store.findByKey(key),
    findMany: (keys: readonly number[]) => buckets.store.findMany(keys),
    visibleTo: buckets.visibleTo,
    getInDefaultBranch: buckets.getInDefaultBranch,
    ensureInBranch: (scope: Scope, { id }: { readonly id: string }, origin: Origin) => buckets.ensureInBranch(scope, id, origin),
    ofProposals: {
      findIn: buckets.store.find,
      ensureForProposal: buckets.ensureForProposal,
      copyInto: buckets.copyInto,
      remove: async (trx: Trx, source: EventSource, { key }: { readonly key: number }) => {
        const bucket = await buckets.store.findByKey(key, trx)
        if (bucket) await buckets.remove(trx, source, bucket, NO_ORIGIN)
      },
    },
    touch: buckets.touch,
    listLinks: ({ key }: { readonly key: number }) => buckets.store.listLinksTo([key]),
    view,
    createForLoad,
  }
}
