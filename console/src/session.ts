// Who is signed in: a person, by the cookie of their session that no script can read, or a token that lives as long as the tab. Both go to
// the stack that served this page, nowhere else.

import { type AnyInput, type Client, createClient, type OperationName } from '../../client/src/client.ts'
import type { Account } from '../../client/src/operations.ts'
import { observable } from './observable.ts'
import { shownInput } from './shown-action.ts'

const TOKEN = 'millrace.token'
const PROJECT = 'millrace.project'

export type Session =
  | { readonly kind: 'unknown' | 'signed-out' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'person'; readonly account: Account; readonly projectId: number | undefined }

const session = observable<Session>({ kind: 'unknown' })

export const useSession = session.use

/** Who is signed in, if it is a person. */
export function usePerson() {
  const current = session.use()
  return current.kind === 'person' ? current : undefined
}

/** What every request carries besides the cookie. */
export function sessionHeaders(): Record<string, string> {
  const current = session.get()
  if (current.kind === 'token') return { 'X-StorageApi-Token': current.token }
  return current.kind === 'person' && current.projectId !== undefined ? { 'X-KBC-ProjectId': String(current.projectId) } : {}
}

/** The development branch that the address of the screen names; undefined means the default branch. */
export const branchId = (): string | undefined => new URLSearchParams(location.search).get('branch') ?? undefined

/** For calls whose address has a place for the branch. */
export const branchName = (): string => branchId() ?? 'default'

/** Requests that changed something, the newest first: people can repeat it from a script. */
export interface Action {
  readonly key: number
  readonly operation: OperationName
  readonly input: AnyInput
  readonly branch: string | undefined
  readonly file?: SentFile
}

/** The bytes of an action, which a command reads from a file: as the body, or as a part of a form with other fields. */
export interface SentFile {
  readonly name: string
  readonly fields?: readonly (readonly [name: string, value: string])[]
}

const REMEMBERED_ACTIONS = 20
const done: Action[] = []

export const actions = (): readonly Action[] => done

function remember(operation: OperationName, given: AnyInput, file?: SentFile): void {
  const input = shownInput(operation, given)
  if (!input) return
  done.unshift({ key: (done[0]?.key ?? 0) + 1, operation, input, branch: branchId(), ...(file && { file }) })
  done.length = Math.min(done.length, REMEMBERED_ACTIONS)
}

/** What is sent without the client: its body is bytes. */
export const rememberSent = (operation: OperationName, input: Omit<AnyInput, 'body'>, file: SentFile): void =>
  remember(operation, input, file)

export const api: Client = createClient({ url: '', headers: sessionHeaders, branch: branchId, onCall: remember })

/** For the sign-in page: a client with a token that is not accepted yet. */
export const clientWith = (token: string) => createClient({ url: '', token: () => token })

export function signIn(token: string): void {
  sessionStorage.setItem(TOKEN, token)
  session.set({ kind: 'token', token })
}

/** At the start of the page, after a sign-in, and when something about the person may have changed. */
export async function loadSession(): Promise<void> {
  const token = sessionStorage.getItem(TOKEN)
  if (token !== null) return session.set({ kind: 'token', token })
  const { isSignedIn } = await api.call('signIn.methods')
  if (!isSignedIn) return session.set({ kind: 'signed-out' })
  const account = await api.call('account.get')
  session.set({ kind: 'person', account, projectId: projectOf(account) })
}

/** The project that the address names, as links of agents do, then that of this tab, then the one chosen last, then the first. */
function projectOf({ projects }: Account): number | undefined {
  const named = new URLSearchParams(location.search).get('project')
  const chosen = [named, sessionStorage.getItem(PROJECT), localStorage.getItem(PROJECT)].map(Number)
  return chosen.find((id) => projects.some((project) => project.id === id)) ?? projects[0]?.id
}

export function chooseProject(projectId: number): void {
  const current = session.get()
  if (current.kind !== 'person') return
  sessionStorage.setItem(PROJECT, String(projectId))
  localStorage.setItem(PROJECT, String(projectId))
  session.set({ ...current, projectId })
}

export function signOut(): void {
  const { kind } = session.get()
  sessionStorage.removeItem(TOKEN)
  session.set({ kind: 'signed-out' })
  if (kind === 'person') void api.call('account.signOut').catch(() => undefined) // it may have ended already
}
