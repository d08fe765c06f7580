// Names of configurations that parts of a screen need at the same moment, loaded with one request.

import { api } from '../session.ts'
import { createBatches } from './batches.ts'

export interface NamedPlace {
  readonly componentId: string
  readonly configurationId?: string
}

export interface Named {
  /** Null: the configuration does not exist, or was deleted. */
  readonly name: string | null
  readonly componentName: string | null
}

/** Begins the keys of their queries; not the operation, so that the commands of a page do not list each name. */
export const NAME_QUERY = 'name of configuration'

/** The most that the operation accepts. */
const MAX_NAMES = 200

export const loadNamed: (place: NamedPlace) => Promise<Named> = createBatches(MAX_NAMES, (configurations) =>
  api.call('configurations.names', { body: { configurations } }),
)
