// What a host of repositories answers (gitprotocol-http, gitprotocol-pack).

import type { Sent } from './hosted-repository.ts'
import { banded, bands, FLUSH, packet } from './pkt-line.ts'
import type { FetchRequest, PushRequest, RefChange } from './requests.ts'

export type GitService = 'git-upload-pack' | 'git-receive-pack'

export type Refs = Readonly<Record<string, string>>

const NO_OBJECT = '0'.repeat(40)
const CAPABILITIES: Readonly<Record<GitService, string>> = {
  'git-upload-pack': 'multi_ack_detailed side-band-64k ofs-delta shallow allow-reachable-sha1-in-want',
  'git-receive-pack': 'report-status side-band-64k delete-refs ofs-delta no-thin',
}

/** Branches, tags, and which branch is recommended. */
export function advertisement(service: GitService, refs: Refs, head: string | undefined): Buffer {
  const isFetch = service === 'git-upload-pack'
  const known = Object.entries(refs).sort(([a], [b]) => (a < b ? -1 : 1))
  const first: [string, string][] = isFetch && head !== undefined ? [['HEAD', refs[head]!]] : []
  const named = [...first, ...known]
  const symref = isFetch && head !== undefined ? ` symref=HEAD:${head}` : ''
  const capabilities = `\0${CAPABILITIES[service]}${symref} agent=millrace`
  const lines = named.length > 0 ? named : [['capabilities^{}', NO_OBJECT] as const]
  return Buffer.concat([
    packet(`# service=${service}\n`),
    FLUSH,
    ...lines.map(([name, oid], i) => packet(`${oid} ${name}${i === 0 ? capabilities : ''}\n`)),
    FLUSH,
  ])
}

/** What the client has in common with us and, when it is done, the pack. */
export async function* fetched(
  request: FetchRequest,
  { common, shallow, unshallow }: Sent,
  pack: () => AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  if (request.depth !== undefined) {
    for (const oid of shallow) yield packet(`shallow ${oid}`)
    for (const oid of unshallow) yield packet(`unshallow ${oid}`)
    yield FLUSH
  }
  // A client that only requests the bounds of a history of that depth sends nothing more.
  if (!request.isDone && request.haves.length === 0 && request.depth !== undefined) return
  yield* acknowledged(request, common)
  if (!request.isDone) return
  if (request.isBanded) {
    yield* bands(pack())
    yield FLUSH
  } else for await (const chunk of pack()) yield Buffer.from(chunk)
}

function* acknowledged({ isDone, isDetailed }: FetchRequest, common: readonly string[]): Generator<Buffer> {
  const last = common.at(-1)
  if (isDetailed) for (const oid of common) yield packet(`ACK ${oid} common\n`)
  if (last === undefined) yield packet('NAK\n')
  else if (isDone || !isDetailed) yield packet(`ACK ${last}\n`)
  else yield packet('NAK\n')
}

/** The client has sent nothing that can be used. */
export const refusal = (reason: string): Buffer => packet(`ERR ${reason}\n`)

export interface PushResult {
  /** Why the pack was not taken; undefined: it was. */
  readonly problem?: string | undefined
  /** Why a branch or tag was not changed, by its name. */
  readonly refused: Readonly<Record<string, string>>
}

export function report({ changes, isBanded, wantsReport }: PushRequest, { problem, refused }: PushResult): Buffer {
  if (!wantsReport) return Buffer.alloc(0)
  const line = ({ name }: RefChange) => (refused[name] === undefined ? `ok ${name}\n` : `ng ${name} ${refused[name]}\n`)
  const lines = [`unpack ${problem ?? 'ok'}\n`, ...changes.map(line)].map(packet)
  const whole = Buffer.concat([...lines, FLUSH])
  return isBanded ? Buffer.concat([banded(whole), FLUSH]) : whole
}
