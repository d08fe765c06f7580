// What happens to a workspace leaves an event, so that every password that was made has a trace (corrections-2, W5).

import { type EventSource, eventOf, type NewEvent, NO_ORIGIN, type Origin } from '../../../model/event.ts'
import type { EventName, EventParams } from '../../../model/event-definitions.ts'
import type { Workspace } from './workspaces.store.ts'

/** Who does something to a workspace, and by which request. */
export interface By {
  readonly source: EventSource
  readonly origin: Origin
}

export const byRequest = ({ actor, origin }: { readonly actor: EventSource; readonly origin: Origin }): By => ({
  source: actor,
  origin,
})

/** What happens by itself happens in the name of who made the workspace. */
export const byCreator = ({ projectId, creator }: Pick<Workspace, 'projectId' | 'creator'>): By => ({
  source: { projectId, tokenId: creator.tokenId, tokenDescription: creator.description },
  origin: NO_ORIGIN,
})

export const workspaceEvent = <N extends EventName>(
  name: N,
  { id, branchId }: Pick<Workspace, 'id' | 'branchId'>,
  params: EventParams<N>,
): NewEvent => eventOf(name, params, { objectId: String(id), branchId })
