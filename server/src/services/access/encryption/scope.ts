// Scopes of ciphers and their prefixes (spec platform 4.2). Clients look at the prefixes, so they are exact.

export interface Scope {
  readonly componentId?: string | undefined
  readonly projectId?: string | undefined
  readonly configId?: string | undefined
  readonly branchType?: string | undefined
}

type ScopeId = keyof Scope

/** Which ids make which cipher. A cipher opens wherever these ids are the same; other ids do not matter to it. */
const KINDS = {
  Secure: [],
  ComponentSecure: ['componentId'],
  ProjectSecure: ['componentId', 'projectId'],
  ConfigSecure: ['componentId', 'projectId', 'configId'],
  ProjectWideSecure: ['projectId'],
  ProjectWideBranchTypeSecure: ['projectId', 'branchType'],
  BranchTypeSecure: ['componentId', 'projectId', 'branchType'],
  BranchTypeConfigSecure: ['componentId', 'projectId', 'configId', 'branchType'],
} as const satisfies Record<string, readonly ScopeId[]>

export type CipherKind = keyof typeof KINDS

/** Ciphers of other clouds and of the past: recognised, so that they are not encrypted again, but not ours to open. */
const FOREIGN = /^KBC::(?:[A-Za-z]*Secure(?:KV|GKMS)::|(?:Component|ComponentProject)?Encrypted==)/
const OURS = /^KBC::([A-Za-z]*Secure)::(.*)$/s

export const isCipher = (value: string): boolean => FOREIGN.test(value) || kindOf(value) !== undefined

function kindOf(value: string): CipherKind | undefined {
  const name = OURS.exec(value)?.[1]
  return name !== undefined && Object.hasOwn(KINDS, name) ? (name as CipherKind) : undefined // own key of KINDS
}

/** A value that is one placeholder and nothing else is filled in at run time and is no secret itself. */
export const isPlaceholder = (value: string): boolean => /^\{\{[^{}]*\}\}$/.test(value)

export const givenIds = (scope: Scope): readonly string[] =>
  Object.entries(scope).flatMap(([name, id]) => (id === undefined ? [] : [name]))

/** The kind for the ids that were given; undefined when no kind has exactly those. */
export function kindFor(scope: Scope): CipherKind | undefined {
  const given = givenIds(scope)
  const found = Object.entries(KINDS).find(
    ([, ids]) => ids.length === given.length && ids.every((id) => scope[id as ScopeId] !== undefined),
  )
  return found?.[0] as CipherKind | undefined // a key of KINDS
}

export const prefixOf = (kind: CipherKind): string => `KBC::${kind}::`

export interface ParsedCipher {
  readonly kind: CipherKind
  readonly sealed: string
}

export function parseCipher(value: string): ParsedCipher | undefined {
  const kind = kindOf(value)
  return kind && { kind, sealed: OURS.exec(value)![2]! }
}

/** What the cipher is bound to; undefined when the context lacks an id the kind needs. */
export function associatedData(stackId: string, kind: CipherKind, context: Scope): string | undefined {
  const ids = KINDS[kind].map((id) => context[id])
  return ids.includes(undefined) ? undefined : JSON.stringify(['millrace cipher', stackId, kind, ...ids])
}
