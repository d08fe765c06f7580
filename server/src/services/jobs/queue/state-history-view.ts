// The state of a row before and after a job, as clients see it: secrets as ciphers, like the state of the configuration itself (spec platform 2.8).

import { Type } from 'typebox'
import { Nullable } from '../../../http/parameters.ts'
import { rawJson } from '../../../kit/text/json-text.ts'
import type { KeptState } from './state-history.store.ts'

const Content = Nullable(
  Type.Record(Type.String(), Type.Unknown(), { description: 'Null when there is none, or it was larger than 256 KiB.' }),
)

export const StateOfRowView = Type.Object(
  {
    rowId: Nullable(Type.String({ description: 'Null: the configuration itself.' })),
    isSaved: Type.Boolean({ description: 'False: the run did not change the state.' }),
    before: Content,
    beforeBytes: Type.Integer(),
    after: Content,
    afterBytes: Nullable(Type.Integer()),
  },
  { title: 'StateOfRow' },
)

export const stateView = ({ rowId, before, after }: KeptState) => ({
  rowId,
  isSaved: after !== null,
  before: before.content === null ? null : rawJson(before.content),
  beforeBytes: before.bytes,
  after: after === null || after.content === null ? null : rawJson(after.content),
  afterBytes: after?.bytes ?? null,
})
