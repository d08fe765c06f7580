// The project of the tab, as the token or the session says.

import { useLoad } from '../load.tsx'

/** Answers say more than their description. */
export interface Project {
  readonly id: number
  readonly name: string
  readonly features: readonly string[]
}

export const useProject = (): Project | undefined =>
  (useLoad('tokens.verify').data as { readonly owner?: Project } | undefined)?.owner

export const useProjectId = (): number => useProject()?.id ?? 0
