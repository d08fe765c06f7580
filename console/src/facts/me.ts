// The token of the session: who and what project it is of, and its rights. A token with rights to all buckets has no list of them here.

import { useLoad } from '../load.tsx'

export const useMe = (enabled = true) => useLoad('tokens.verify', { query: { onlyGivenBuckets: true } }, { enabled }).data
