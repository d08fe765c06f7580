// Whether a table is as fresh as usual, as the API shows it (spec storage 2.5.12).

import { Type } from 'typebox'
import { Nullable } from './parameters.ts'
import { Timestamp } from './record-schemas.ts'

export const FRESHNESS = {
  tableId: Type.String({ description: 'The table whose loads count; for an alias its source table.' }),
  state: Type.String({
    description: '`late`, `fresh`, or `unknown`: it was loaded fewer than four times, or for less than half an hour.',
  }),
  lastLoadTime: Nullable(Timestamp),
  usualIntervalMs: Nullable(Type.Integer({ description: 'Median of the intervals between the last loads.' })),
  expectedTime: Nullable(Timestamp),
  lateByMs: Type.Integer(),
}
export const FreshnessView = Type.Object(FRESHNESS, { title: 'Freshness' })
export type Freshness = Type.Static<typeof FreshnessView>
