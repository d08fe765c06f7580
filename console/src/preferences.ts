// What a person keeps for themselves: with their account, on every machine; for a token, in the browser.

import { useQueryClient } from '@tanstack/react-query'
import { useLoad } from './load.tsx'
import { observable } from './observable.ts'
import { api, usePerson } from './session.ts'

const LOCAL = 'millrace.preferences'

function readLocal(): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(localStorage.getItem(LOCAL) ?? '{}') as Record<string, unknown> // written below
  } catch {
    return {}
  }
}

const local = observable(readLocal())

/** The value of this name, and how to change it; `otherwise` until one is kept. */
export function usePreference<T>(name: string, otherwise: T): readonly [T, (value: T) => Promise<void>] {
  const queries = useQueryClient()
  const isPerson = usePerson() !== undefined
  const ofAccount = useLoad('account.preferences', {}, { enabled: isPerson }).data
  const ofBrowser = local.use()
  const kept = (isPerson ? ofAccount : ofBrowser)?.[name]
  const change = async (value: T): Promise<void> => {
    if (isPerson) {
      await api.call('account.setPreference', { path: { name }, body: { value } })
      await queries.invalidateQueries({ queryKey: ['account.preferences'] })
    } else {
      local.set({ ...local.get(), [name]: value })
      localStorage.setItem(LOCAL, JSON.stringify(local.get()))
    }
  }
  return [(kept as T | undefined) ?? otherwise, change] // what is kept under a name has the type that its users write
}
