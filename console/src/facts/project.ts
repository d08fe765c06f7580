// The project of the tab, from the token or the session.

import { useMe } from './me.ts'

/** Answers have more members than their schema. */
export interface Project {
  readonly id: number
  readonly name: string
  readonly features: readonly string[]
}

export const useProject = (): Project | undefined => (useMe() as { readonly owner?: Project } | undefined)?.owner

export const useProjectId = (): number => useProject()?.id ?? 0
