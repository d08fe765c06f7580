// What this module keeps. Texts named `configuration` and `state` are JSON exactly as it was sent, with `#` values encrypted.

/** Who did something, and when. */
export interface Stamp {
  readonly at: number
  readonly tokenId: number
  readonly tokenDescription: string
}

/** Where a configuration is found. `componentId` is always the component's own id, never an alias. */
export interface Address {
  readonly projectId: number
  readonly branchId: number
  readonly componentId: string
  readonly configurationId: string
}

/** Where a configuration is made, and the id of its component that clients are shown: the one it was made under. */
export interface Place extends Address {
  readonly listedAs: string
}

/** What a version holds, of a configuration as of a row. */
export interface Content {
  readonly name: string
  readonly description: string
  readonly isDisabled: boolean
  readonly configuration: string
}

export interface ConfigurationRecord extends Place, Content {
  /** The module's own number of the configuration; it never leaves the module. */
  readonly ownerId: number
  readonly isDeleted: boolean
  readonly version: number
  /** The version whose record holds the configuration text. */
  readonly contentVersion: number
  readonly rowsSortOrder: readonly string[]
  readonly state: string
  readonly changeDescription: string
  readonly versionIdentifier: string
  readonly revision: number
  readonly rowsRevision: number
  readonly created: Stamp
  readonly changed: Stamp
  /** In a development branch: the version of the default branch this one started from. */
  readonly baseVersion: number | null
}

export interface RowRecord extends Content {
  readonly id: string
  readonly version: number
  readonly state: string
  readonly isDeleted: boolean
  readonly changeDescription: string
  readonly versionIdentifier: string
  readonly created: Stamp
}

export interface VersionRecord extends Omit<Content, 'configuration'> {
  readonly version: number
  readonly isDeleted: boolean
  readonly contentVersion: number
  readonly rowsSortOrder: readonly string[]
  readonly changeDescription: string
  readonly versionIdentifier: string
  readonly created: Stamp
}

export interface RowVersionRecord extends Content {
  readonly rowId: string
  readonly version: number
  readonly changeDescription: string
  readonly versionIdentifier: string
  readonly created: Stamp
}

export interface MetadataItem {
  readonly id: number
  readonly key: string
  readonly value: string
  readonly changedAt: number
}

/**
 * The order rows are shown and run in: as sorted, then those that were never sorted, in the order of their creation, because later
 * rows may build on what earlier ones have loaded.
 */
export function inOrder<T extends { readonly id: string }>(
  rows: readonly T[],
  sortOrder: readonly string[],
  createdAt: (row: T) => number,
): T[] {
  const position = new Map(sortOrder.map((id, i) => [id, i]))
  const placeOf = (row: T) => position.get(row.id) ?? Number.POSITIVE_INFINITY
  return [...rows].sort((a, b) => {
    const [placeA, placeB] = [placeOf(a), placeOf(b)]
    if (placeA !== placeB) return placeA - placeB
    return createdAt(a) - createdAt(b) || compareIds(a.id, b.id)
  })
}

/** Numeric ids by number, others by their characters. */
function compareIds(a: string, b: string): number {
  if (/^\d+$/.test(a) && /^\d+$/.test(b) && a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}
