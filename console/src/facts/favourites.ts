// Tables that a person marked to find them quickly, by project.

import { usePreference } from '../preferences.ts'
import { useProjectId } from './project.ts'

export function useFavourites() {
  const [ids, set] = usePreference<readonly string[]>(`favourites:${useProjectId()}`, [])
  return {
    ids,
    toggle: (id: string) => set(ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]),
  }
}
