// Which components are apps.

import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'

export interface AppComponentsDeps {
  /** The component's own id; refuses unknown components and those that the actor has no access to. */
  readonly usable: (actor: Actor, componentId: string) => string
  readonly typeOf: (componentId: string) => string | undefined
}

export const usableApp =
  ({ usable, typeOf }: AppComponentsDeps) =>
  (actor: Actor, componentId: string): string => {
    const id = usable(actor, componentId)
    if (typeOf(id) !== 'data-app') throw new PlatformError('apps.notAnApp', { component: id })
    return id
  }
