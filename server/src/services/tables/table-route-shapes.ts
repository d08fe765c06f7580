// Shapes that the routes of this room share.

import { Type } from 'typebox'

/** Fields that table-requests.ts reads by itself, in every form clients send them. */
export const AnyFields = Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}))

/** The same, where null takes away what a column or a table has. */
const Cleared = Type.Optional(Type.Union([Type.Unknown(), Type.Null()], { description: 'Null takes it away.' }))
export const ColumnChangeFields = Type.Unsafe<Readonly<Record<string, unknown>>>(
  Type.Object({ default: Cleared, description: Cleared }),
)
export const TableChangeFields = Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({ description: Cleared }))

export const ByBucket = Type.Object({ bucketId: Type.String() })
export const ByTable = Type.Object({ tableId: Type.String() })
export const ByColumn = Type.Object({ tableId: Type.String(), column: Type.String() })
