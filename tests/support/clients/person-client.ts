// Somebody at a browser: keeps the cookie of their session, and calls as a page of the stack does.

import assert from 'node:assert/strict'
import type { Role } from '../../../server/src/model/actor.ts'
import { type Answer, type RequestOptions, send, type TestStack } from '../test-stack.ts'

export const PASSWORD = 'correct horse battery staple'

export interface PersonClient {
  readonly email: string
  /** The cookie as it is sent; undefined when nobody is signed in. */
  cookie(): string | undefined
  call(method: string, path: string, options?: RequestOptions): Promise<Answer>
  ok<T = Record<string, unknown>>(method: string, path: string, json?: unknown): Promise<T>
  /** The same person with every request about this project. */
  in(projectId: number): PersonClient
  signIn(code?: string, password?: string): Promise<Answer>
}

/** A browser that nobody is signed in with. */
export function newBrowser({ url }: Pick<TestStack, 'url'>, email = 'ann@example.com'): PersonClient {
  const jar = { cookie: undefined as string | undefined }
  const client = (headers: Readonly<Record<string, string>>): PersonClient => {
    const call = async (method: string, path: string, options: RequestOptions = {}): Promise<Answer> => {
      const sent = { origin: url, ...headers, ...(jar.cookie && { cookie: jar.cookie }), ...options.headers }
      const answer = await send(url, method, path, { token: null, ...options, headers: sent })
      const [set] = answer.headers.getSetCookie().filter((cookie) => cookie.includes('_session'))
      if (set) jar.cookie = /Max-Age=0;/.test(set) ? undefined : set.split(';')[0]
      return answer
    }
    const ok = async <T>(method: string, path: string, json?: unknown): Promise<T> => {
      const answer = await call(method, path, json === undefined ? {} : { json })
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
      return answer.text === '' ? (undefined as T) : answer.json<T>()
    }
    return {
      email,
      cookie: () => jar.cookie,
      call,
      ok,
      in: (projectId) => client({ 'x-kbc-projectid': String(projectId) }),
      signIn: (code, password = PASSWORD) =>
        call('POST', '/sign-in/password', { json: { email, password, ...(code && { code }) } }),
    }
  }
  return client({})
}

/** A stack admin who came by the link that the first start prints. */
export async function newStackAdmin(stack: TestStack, email = 'root@example.com'): Promise<PersonClient> {
  const browser = newBrowser(stack, email)
  const link = await stack.platform.people.makeSignInLink()
  await browser.ok('POST', '/sign-in/link', { link, name: nameOf(email), email, password: PASSWORD })
  return browser
}

/** A member of a project, invited by `admin`. */
export async function newMember(
  stack: TestStack,
  admin: PersonClient,
  { projectId, role, email = `${role}-${projectId}@example.com` }: { projectId: number; role: Role; email?: string },
): Promise<PersonClient> {
  const { link } = await admin.ok<{ link: string }>('POST', `/manage/projects/${projectId}/invitations`, { email, role })
  const browser = newBrowser(stack, email)
  await browser.ok('POST', '/sign-in/link', { link: link.split('#link=')[1], name: nameOf(email), password: PASSWORD })
  return browser
}

const nameOf = (email: string): string => email.split('@')[0]!
