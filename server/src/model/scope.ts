// For whom and in which branch something is read or changed.

import type { Actor } from './actor.ts'

export interface Scope {
  readonly actor: Actor
  readonly branch: { readonly id: number; readonly isDefault: boolean }
}
