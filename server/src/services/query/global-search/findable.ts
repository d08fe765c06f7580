// Things of other modules as the search sees them: what type they count as, and where they are.

import type { Findable, FoundType, PlacedBucket } from './global-search.ts'

/** Ids as clients are shown them: those of this stack alone are not among them. */
const FLOWS = new Set(['keboola.flow', 'keboola.orchestrator'])
const SHARED_CODE = 'keboola.shared-code'

/** A configuration, or one of its rows. */
export interface NamedConfiguration {
  readonly componentId: string
  readonly configurationId: string
  readonly name: string
  readonly row?: { readonly id: string; readonly name: string } | undefined
  readonly createdAt: number
}

type FindComponent = (id: string) => { readonly name: string; readonly type: string } | undefined

export function findableConfiguration(findComponent: FindComponent, found: NamedConfiguration): Findable {
  const { componentId, configurationId, name, row, createdAt } = found
  const description = findComponent(componentId)
  const component = { id: componentId, name: description?.name ?? componentId }
  if (!row) {
    const type = typeOf(componentId, description?.type)
    return { id: configurationId, type, name, componentId, path: { component }, createdAt }
  }
  const path = { component, configuration: { id: configurationId, name } }
  const type = componentId === SHARED_CODE ? 'shared-code' : 'configuration-row'
  return { id: row.id, type, name: row.name, componentId, path, createdAt }
}

function typeOf(componentId: string, componentType: string | undefined): FoundType {
  if (FLOWS.has(componentId)) return 'flow'
  return componentType === 'transformation' ? 'transformation' : 'configuration'
}

export interface NamedBucket extends PlacedBucket {
  readonly id: string
  readonly displayName: string
  readonly createdAt: Date
}

export const findableBucket = (bucket: NamedBucket) => ({
  id: bucket.id,
  type: 'bucket' as const,
  name: bucket.displayName,
  createdAt: bucket.createdAt.getTime(),
  bucket,
})

export interface NamedTable {
  readonly id: string
  readonly bucket: PlacedBucket & { readonly id: string }
  readonly row: { readonly displayName: string; readonly createdAt: Date }
}

export const findableTable = ({ id, bucket, row }: NamedTable) => ({
  id,
  type: 'table' as const,
  name: row.displayName,
  path: { bucket: { id: bucket.id, name: bucket.id } },
  createdAt: row.createdAt.getTime(),
  bucket,
})
