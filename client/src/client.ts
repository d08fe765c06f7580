// A typed client of the Millrace API: `call('tables.get', { path: { tableId } })`. Types and addresses are made from the OpenAPI document.

import { type DryRun, type Operations, ROUTES } from './operations.ts'

export type OperationName = keyof Operations & keyof typeof ROUTES
export type Answer<O extends OperationName> = Operations[O]['answer']

/** Parameters by place; those that an operation does not have are left out. */
export interface Input<O extends OperationName> {
  readonly path?: Operations[O]['path']
  readonly query?: Operations[O]['query']
  readonly body?: Operations[O]['body']
  readonly signal?: AbortSignal
  /** Other headers, such as `accept` for a stream of events. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface ClientOptions {
  /** Address of the stack; empty for the one that served the page. */
  readonly url: string
  readonly token?: () => string | undefined
  /** What every request carries, for example the project that a session is for. */
  readonly headers?: () => Readonly<Record<string, string>>
  /** Id of the development branch that calls mean wherever one can be named; the default branch without it. */
  readonly branch?: () => string | undefined
  readonly fetch?: typeof fetch
}

/** What the server said, in its own words. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly exceptionId: string | undefined

  constructor(status: number, body: ErrorBody | undefined) {
    super(body?.error ?? `The stack answered ${status}.`)
    this.status = status
    this.code = String(body?.context?.stringCode ?? body?.code ?? status)
    this.exceptionId = body?.exceptionId
  }
}

interface ErrorBody {
  readonly error?: string
  readonly code?: string | number
  readonly exceptionId?: string
  readonly context?: { readonly stringCode?: string }
}

export interface Client {
  call<O extends OperationName>(operation: O, input?: Input<O>): Promise<Answer<O>>
  /** What the call would do, without doing it; for operations that know `dryRun`. */
  dryRun<O extends OperationName>(operation: O, input?: Input<O>): Promise<DryRun>
  /** The answer itself, for downloads and streams. */
  open<O extends OperationName>(operation: O, input?: Input<O>): Promise<Response>
}

export function createClient({
  url,
  token,
  headers: always,
  branch,
  fetch: send = globalThis.fetch.bind(globalThis),
}: ClientOptions): Client {
  const open: Client['open'] = async (operation, input = {}) => {
    const { method, address, body } = requestOf(operation, input, branch?.())
    const headers = new Headers({ ...always?.(), ...input.headers })
    const value = token?.()
    if (value) headers.set('X-StorageApi-Token', value)
    if (body !== undefined) headers.set('content-type', 'application/json')
    const init: RequestInit = { method, headers }
    if (body !== undefined) init.body = body
    if (input.signal) init.signal = input.signal
    const response = await send(`${url}${address}`, init)
    if (!response.ok) throw new ApiError(response.status, (await response.json().catch(() => undefined)) as ErrorBody | undefined)
    return response
  }
  const call: Client['call'] = async (operation, input) => {
    const response = await open(operation, input)
    const text = await response.text()
    if (response.headers.get('content-type')?.startsWith('text/plain')) return text as never // such as a log
    return (text === '' ? undefined : JSON.parse(text)) as never // the document promises this type
  }
  return {
    open,
    call,
    dryRun: (operation, input) =>
      call(operation, { ...input, query: { ...input?.query, dryRun: true } as never }) as Promise<unknown> as Promise<DryRun>, // as the document promises
  }
}

export interface RequestLine {
  readonly method: string
  readonly address: string
  readonly body: string | undefined
}

type Values = Readonly<Record<string, unknown>>

/** The request that a call makes, in a branch; also for showing it to people. */
export function requestOf<O extends OperationName>(operation: O, { path, query, body }: Input<O>, branch?: string): RequestLine {
  const [method, template, branchPlace] = ROUTES[operation] as readonly [string, string, ('address' | 'query' | 'body')?]
  const values = (path ?? {}) as Values
  const inBranch = (place: typeof branchPlace): Values =>
    branch !== undefined && branchPlace === place ? { branchId: branch } : {}
  const prefix = inBranch('address').branchId === undefined ? '/v2/storage/' : `/v2/storage/branch/${branch}/`
  const filled = template
    .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])))
    .replace('/v2/storage/', prefix)
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...inBranch('query'), ...query })) appendTo(search, name, value)
  const asked = search.toString()
  return {
    method,
    address: asked === '' ? filled : `${filled}?${asked}`,
    body:
      body === undefined
        ? undefined
        : JSON.stringify(branchPlace === 'body' ? { ...inBranch('body'), ...(body as object) } : body),
  }
}

function appendTo(search: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined) return
  if (Array.isArray(value)) for (const one of value) search.append(`${name}[]`, String(one))
  else search.append(name, String(value))
}
