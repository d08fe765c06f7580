// A real authorisation server (oidc-provider) on a port of its own, which a test can hold up, break or take away, and a browser with
// cookies that logs in there and agrees or refuses.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import type { TestScope } from '../test-stack.ts'

export const CLIENT = { id: 'millrace-test', secret: 'canary-client-secret-of-the-stack' }

export interface AuthorisationServer {
  readonly url: string
  /** Paths in the order of their requests. */
  readonly asked: string[]
  /** Answers instead of the server when it returns true; undefined: the server answers. */
  intercept(answer: ((request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>) | undefined): void
  /** The members of a provider definition for the manage routes. */
  readonly definition: Readonly<Record<string, unknown>>
}

export interface ServerOptions {
  readonly redirectUrls: readonly string[]
  readonly accessTokenSeconds?: number
  readonly codeSeconds?: number
}

export async function startAuthorisationServer(t: TestScope, options: ServerOptions): Promise<AuthorisationServer> {
  const asked: string[] = []
  let answerInstead: Parameters<AuthorisationServer['intercept']>[0]
  let serve: (request: IncomingMessage, response: ServerResponse) => unknown = () => {}
  const server = createServer(async (request, response) => {
    asked.push(request.url?.split('?')[0] ?? '')
    if (await answerInstead?.(request, response)) return
    serve(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(url, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [...options.redirectUrls],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    ttl: {
      AccessToken: options.accessTokenSeconds ?? 3600,
      AuthorizationCode: options.codeSeconds ?? 60,
      IdToken: 3600,
      RefreshToken: 86_400,
      Grant: 86_400,
      Interaction: 600,
      Session: 600,
    },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    features: { revocation: { enabled: true }, devInteractions: { enabled: true } },
    cookies: { keys: ['test'] },
    findAccount: async (_context, id) => ({ accountId: id, claims: async () => ({ sub: id, email: `${id}@example.com` }) }),
  })
  serve = provider.callback()
  return {
    url,
    asked,
    intercept: (answer) => {
      answerInstead = answer
    },
    definition: {
      friendly_name: 'Test server',
      oauth_version: '2.0',
      auth_url: `${url}/auth`,
      token_url: `${url}/token`,
      revoke_url: `${url}/token/revocation`,
      test_url: `${url}/me`,
      issuer: url,
      scope: 'openid offline_access',
      auth_parameters: { prompt: 'consent' },
      app_key: CLIENT.id,
      app_secret: CLIENT.secret,
    },
  }
}

export interface Visit {
  readonly status: number
  readonly url: string
  readonly text: string
  readonly location: string | null
}

export type Browser = ReturnType<typeof createBrowser>

/** Cookies by host, forms by hand; follows no redirect by itself. */
export function createBrowser() {
  const jars = new Map<string, Map<string, string>>()

  async function visit(address: string, form?: Readonly<Record<string, string>>): Promise<Visit> {
    const url = new URL(address)
    const jar = jars.get(url.host) ?? new Map<string, string>()
    jars.set(url.host, jar)
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      const [name = '', ...value] = pair.split('=')
      jar.set(name, value.join('='))
    }
    const location = response.headers.get('location')
    return {
      status: response.status,
      url: url.href,
      text: await response.text(),
      location: location === null ? null : new URL(location, url).href,
    }
  }

  /** Follows redirects as long as they lead below `origin`; the last address is one that leads elsewhere, or a page. */
  async function follow(address: string, origin: string, form?: Readonly<Record<string, string>>): Promise<Visit> {
    let seen = await visit(address, form)
    while (seen.location?.startsWith(origin)) seen = await visit(seen.location)
    return seen
  }

  /** From the address of the provider to the redirect address with its code; `refuses`: to the same with an error. */
  async function agree(authUrl: string, server: string, refuses = false): Promise<string> {
    let seen = await follow(authUrl, server)
    while (seen.location === null) {
      const action = /<form[^>]*action="([^"]+)"/.exec(seen.text)?.[1]
      if (!action || seen.status >= 400) throw new Error(`not a form (${seen.status}): ${seen.text.slice(0, 500)}`)
      const prompt = /name="prompt" value="(\w+)"/.exec(seen.text)?.[1] ?? 'login'
      const address = new URL(action, seen.url).href
      seen = refuses
        ? await follow(`${address}/abort`, server)
        : await follow(address, server, { prompt, login: 'somebody', password: 'any' })
    }
    return seen.location
  }

  return { visit, follow, agree, cookies: jars }
}
