// The project of the tab, from the token or the session.

import { useLoad } from '../load.tsx'

/** Answers have more members than their schema. */
export interface Project {
  readonly id: number
  readonly name: string
  readonly features: readonly string[]
}

export const useProject = (): Project | undefined =>
  (useLoad('tokens.verify').data as { readonly owner?: Project } | undefined)?.owner

export const useProjectId = (): number => useProject()?.id ?? 0
