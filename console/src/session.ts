// Who is signed in: the token lives as long as the tab, and goes to the stack that served this page, nowhere else.

import { createClient } from '../../client/src/client.ts'
import { observable } from './observable.ts'

const KEY = 'millrace.token'
const token = observable(sessionStorage.getItem(KEY) ?? undefined)

export const currentToken = token.get
export const useToken = token.use

export function signIn(value: string): void {
  sessionStorage.setItem(KEY, value)
  token.set(value)
}

export function signOut(): void {
  sessionStorage.removeItem(KEY)
  token.set(undefined)
}

export const api = createClient({ url: '', token: currentToken })

/** For the sign-in page: a client with a token that is not accepted yet. */
export const clientWith = (token: string) => createClient({ url: '', token: () => token })
