// Tables that a person wants to find at once, by project.

import { useLoad } from '../load.tsx'
import { usePreference } from '../preferences.ts'

export function useFavourites() {
  const project = (useLoad('tokens.verify').data as { readonly owner?: { readonly id: number } } | undefined)?.owner?.id // described loosely
  const [ids, set] = usePreference<readonly string[]>(`favourites:${project ?? 0}`, [])
  return {
    ids,
    toggle: (id: string) => set(ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]),
  }
}
