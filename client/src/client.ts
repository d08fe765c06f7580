// A typed client of the Millrace API: `call('tables.get', { path: { tableId } })`. Types and addresses are made from the OpenAPI document.

import { type DryRun, type Operations, ROUTES } from './operations.ts'

export type OperationName = keyof Operations & keyof typeof ROUTES
export type Answer<O extends OperationName> = Operations[O]['answer']

/** The input of any operation, for code that stores or shows calls of all of them. */
export interface AnyInput {
  readonly path?: object | undefined
  readonly query?: object | undefined
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** Other headers, such as `accept` for a stream of events. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Parameters by place: required where the operation requires them, refused where it has none. */
export type Input<O extends OperationName> = AnyInput & Readonly<Pick<Operations[O], 'path' | 'query' | 'body'>>

/** The operations that can be called by their name alone. */
export type PlainOperation = { [O in OperationName]: Operations[O] extends Demanding ? never : O }[OperationName]
type Demanding = { path: unknown } | { query: unknown } | { body: unknown }

export interface ClientOptions {
  /** Address of the stack; empty for the one that served the page. */
  readonly url: string
  readonly token?: () => string | undefined
  /** What every request carries, for example the project that a session is for. */
  readonly headers?: () => Readonly<Record<string, string>>
  /** Id of the development branch that calls mean wherever one can be named; the default branch without it. */
  readonly branch?: () => string | undefined
  /** Called before each request, for example to show people what is sent. */
  readonly onCall?: (operation: OperationName, input: AnyInput) => void
  readonly fetch?: typeof fetch
}

/** The error as the server returned it. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly exceptionId: string | undefined
  /** Data for programs, such as the place of a mistake. */
  readonly params: Readonly<Record<string, unknown>>

  constructor(status: number, body: ErrorBody | undefined) {
    super(body?.error ?? `The stack answered ${status}.`)
    this.status = status
    this.code = String(body?.context?.stringCode ?? body?.code ?? status)
    this.exceptionId = body?.exceptionId
    this.params = body?.params ?? {}
  }
}

/** The members of an error body that the client reads. */
export interface ErrorBody {
  readonly error?: string
  readonly code?: string | number
  readonly exceptionId?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly context?: { readonly stringCode?: string }
}

export interface Client {
  call<O extends PlainOperation>(operation: O): Promise<Answer<O>>
  call<O extends OperationName>(operation: O, input: Input<O>): Promise<Answer<O>>
  /** What the call would do, without doing it; for operations that support `dryRun`. */
  dryRun<O extends OperationName>(operation: O, input: Input<O>): Promise<DryRun>
  /** The response itself, for downloads and streams. */
  open<O extends OperationName>(operation: O, input: Input<O>): Promise<Response>
}

export function createClient({
  url,
  token,
  headers: always,
  branch,
  onCall,
  fetch: send = globalThis.fetch.bind(globalThis),
}: ClientOptions): Client {
  const open = async (operation: OperationName, input: AnyInput): Promise<Response> => {
    const { method, address, body } = requestOf(operation, input, branch?.())
    onCall?.(operation, input)
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
  /** As the document promises: a text such as a log, or JSON. */
  const call = async <A>(operation: OperationName, input: AnyInput = {}): Promise<A> => {
    const response = await open(operation, input)
    const text = await response.text()
    const isText = response.headers.get('content-type')?.startsWith('text/plain')
    return (isText ? text : text === '' ? undefined : JSON.parse(text)) as A
  }
  return { open, call, dryRun: (operation, input) => call(operation, { ...input, query: { ...input.query, dryRun: true } }) }
}

export interface RequestLine {
  readonly method: string
  readonly address: string
  readonly body: string | undefined
}

type Values = Readonly<Record<string, unknown>>

/** A call that no request can be built for. */
export class InputError extends Error {
  override readonly name = 'InputError'
}

/** The request of a call, in a branch. Throws when a path parameter is missing or empty: the address would be another operation's. */
export function requestOf(operation: OperationName, { path, query, body }: AnyInput, branch?: string): RequestLine {
  if (!Object.hasOwn(ROUTES, operation)) throw new InputError(`${operation} is not an operation of the API.`)
  const [method, template, branchPlace]: readonly [string, string, BranchPlace?] = ROUTES[operation]
  const values: Values = { ...path }
  const inBranch = (place: BranchPlace): Values => (branch !== undefined && branchPlace === place ? { branchId: branch } : {})
  const prefix = inBranch('address').branchId === undefined ? '/v2/storage/' : `/v2/storage/branch/${branch}/`
  const filled = template
    .replace(/\{(\w+)\}/g, (_, name: string) => pathText(operation, name, values[name]))
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

type BranchPlace = 'address' | 'query' | 'body'

function pathText(operation: OperationName, name: string, value: unknown): string {
  if ((typeof value === 'string' && value !== '') || Number.isFinite(value)) return encodeURIComponent(String(value))
  throw new InputError(
    `${operation}: path parameter ${name} is ${value === '' ? 'empty' : String(value)}. Pass a text or a number.`,
  )
}

function appendTo(search: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined) return
  if (Array.isArray(value)) for (const one of value) search.append(`${name}[]`, String(one))
  else search.append(name, String(value))
}
