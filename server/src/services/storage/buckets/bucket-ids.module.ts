// The ids of buckets, for tokens: the command line creates tokens without opening buckets and tables.

import type { Core } from '../../../model/core.ts'
import { createBucketsStore } from './buckets.store.ts'

export const createBucketIds = ({ db }: Pick<Core, 'db'>) => createBucketsStore(db).listIds
