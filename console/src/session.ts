// Who is signed in: the token lives as long as the tab, and goes to the stack that served this page, nowhere else.

import { useSyncExternalStore } from 'react'
import { createClient } from '../../client/src/client.ts'

const KEY = 'millrace.token'
const listeners = new Set<() => void>()

export const currentToken = (): string | undefined => sessionStorage.getItem(KEY) ?? undefined

export function signIn(token: string): void {
  sessionStorage.setItem(KEY, token)
  for (const listener of listeners) listener()
}

export function signOut(): void {
  sessionStorage.removeItem(KEY)
  for (const listener of listeners) listener()
}

export const useToken = (): string | undefined =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, currentToken)

export const api = createClient({ url: '', token: currentToken })

/** For the sign-in page: a client with a token that is not accepted yet. */
export const clientWith = (token: string) => createClient({ url: '', token: () => token })
