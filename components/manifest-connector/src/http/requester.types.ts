// A requester as its users see it.

import type { StreamSlice } from '../partitions/slice.ts'
import type { Dict } from '../python/values.ts'
import type { Place } from './options.ts'
import type { Outcome } from './retry.ts'

export interface RequestInput {
  readonly slice: StreamSlice
  readonly nextPageToken?: Dict | undefined
  /** Of paginator and slicer. */
  readonly extra?: (place: Place) => Dict | string
  /** Replaces the path. */
  readonly path?: string | undefined
  /** The chunk of properties of this request. */
  readonly properties?: readonly string[] | undefined
}

export interface Requester {
  send(input: RequestInput): Promise<Outcome>
}

export type RequesterFactory = (definition: Dict, name: string) => Requester
