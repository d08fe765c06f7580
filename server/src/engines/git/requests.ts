// Requests of git clients in version 1 of the protocol: newer clients fall back to it.

import { readPackets } from './pkt-line.ts'

export interface FetchRequest {
  readonly wants: readonly string[]
  readonly haves: readonly string[]
  /** Commits whose parents the client does not have. */
  readonly shallow: readonly string[]
  /** How many commits deep; undefined: all of them. */
  readonly depth: number | undefined
  /** Whether the client requests the pack now, or continues to list what it has. */
  readonly isDone: boolean
  readonly isDetailed: boolean
  readonly isBanded: boolean
}

export interface RefChange {
  readonly name: string
  /** Undefined: it is not there. */
  readonly before: string | undefined
  readonly after: string | undefined
}

export interface PushRequest {
  readonly changes: readonly RefChange[]
  readonly isBanded: boolean
  readonly wantsReport: boolean
  /** Where the pack begins. */
  readonly packAt: number
}

const NOTHING = '0'.repeat(40)
const OID = '[0-9a-f]{40}'
const LINE = new RegExp(`^(?:(want|have|shallow) (${OID})(?: (.*))?|deepen (\\d{1,10})|(done))$`)
const CHANGE = new RegExp(`^(${OID}) (${OID}) ([^\\0]+)(?:\\0(.*))?$`)

/** Undefined: it cannot be read. */
export function readFetchRequest(body: Buffer): FetchRequest | undefined {
  const found = readPackets(body)?.lines.filter((line) => line !== undefined)
  if (!found) return undefined
  const named: Record<'want' | 'have' | 'shallow', string[]> = { want: [], have: [], shallow: [] }
  let depth: number | undefined
  let capabilities = ''
  let isDone = false
  for (const line of found) {
    const [, kind, oid, more, deepen, done] = LINE.exec(line) ?? []
    if (kind !== undefined)
      named[kind as keyof typeof named].push(oid!) // both by the pattern
    else if (deepen !== undefined) depth = Number(deepen)
    else if (done === undefined) return undefined
    capabilities ||= more ?? ''
    isDone ||= done !== undefined
  }
  const has = capabilitiesOf(capabilities)
  return {
    wants: named.want,
    haves: named.have,
    shallow: named.shallow,
    depth: depth === 0 ? undefined : depth,
    isDone,
    isDetailed: has.has('multi_ack_detailed'),
    isBanded: has.has('side-band-64k'),
  }
}

/** From the beginning of the body; undefined: it cannot be read. */
export function readPushRequest(head: Buffer): PushRequest | undefined {
  const found = readPackets(head, true)
  if (!found || found.lines.length === 0 || found.lines.at(-1) !== undefined) return undefined
  const changes: RefChange[] = []
  let has: ReadonlySet<string> = new Set()
  for (const line of found.lines.slice(0, -1)) {
    const [, before, after, name, capabilities] = CHANGE.exec(line ?? '') ?? []
    if (name === undefined) return undefined
    changes.push({ name, before: oidOf(before), after: oidOf(after) })
    if (capabilities !== undefined) has = capabilitiesOf(capabilities)
  }
  return { changes, isBanded: has.has('side-band-64k'), wantsReport: has.has('report-status'), packAt: found.end }
}

const oidOf = (text: string | undefined) => (text === NOTHING ? undefined : text)
const capabilitiesOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(' '))
