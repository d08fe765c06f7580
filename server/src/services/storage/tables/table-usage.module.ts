// Rows and bytes of tables, for buckets, which are created before tables.

import type { Core } from '../../../model/core.ts'
import { createTablesStore } from './tables.store.ts'

export const createTableUsage = ({ db }: Pick<Core, 'db'>) => createTablesStore(db).usage
