// Shapes that the routes of this room share.

import { Type } from 'typebox'

/** Fields that table-requests.ts reads by itself, in every form clients send them. */
export const AnyFields = Type.Record(Type.String(), Type.Unknown())
export const ByBucket = Type.Object({ bucketId: Type.String() })
export const ByTable = Type.Object({ tableId: Type.String() })
export const ByColumn = Type.Object({ tableId: Type.String(), column: Type.String() })
