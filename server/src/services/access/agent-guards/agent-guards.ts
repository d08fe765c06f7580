// Rules for tokens that agents use over /mcp.
//  1. What a tool returned from data is remembered as fingerprints: whole values, and the addresses, hosts and mail addresses in them.
//  2. A token that has read data within a day adds no host and no recipient that production does not have, adds no value of that data to
//     what requests send, adds no value that was encrypted elsewhere, and gives no access (tokens, links, shared buckets, invitations),
//     unless a person allows it. This holds for every request of the token, over /mcp or not. Tokens that only propose are reviewed instead.
//  3. Some calls need a person each time: deletes, and schedules that run often. A leave is for one call with the same arguments.
//  4. A request is decided once, within a day, by someone else: a signed-in person, or another token that is not an agent's. A secret for
//     an agent that a person signed in is entered by that person.

import { createHash, randomBytes } from 'node:crypto'
import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import {
  type AgentRequest,
  addSeen,
  deleteSeenBefore,
  findRequest,
  insertRequest,
  listRequests,
  listSeen,
  moveRequest,
  wasSeen,
} from './agent-guards.store.ts'
import { ciphersIn, foundInAll, MAX_SENT, outgoingIn, partsOf, sentValuesIn } from './outgoing.ts'

export interface AgentGuardsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  /** Texts of everything that production is configured with. */
  readonly contents: (projectId: number) => Promise<readonly string[]>
  /** The same of a branch. */
  readonly contentsOfBranch: (projectId: number, branchId: number) => Promise<readonly string[]>
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const REMEMBERED_MS = 30 * DAY_MS
const MAX_SEEN = 2_000
/** Under this name the token has read data at all. */
const ANY = 'any'

const hashOf = (text: string): string => createHash('sha256').update(text.toLowerCase()).digest('base64url')

export type AgentGuards = ReturnType<typeof createAgentGuards>

export function createAgentGuards(deps: AgentGuardsDeps) {
  const { db, inTransaction, clock } = deps
  const now = (): number => clock.now().getTime()

  /** Rule 1. */
  async function remember({ projectId, tokenId }: Actor, values: readonly string[]): Promise<void> {
    const parts = [...new Set(values.flatMap(partsOf))].slice(0, MAX_SEEN)
    await inTransaction(async (trx) => {
      await addSeen(trx, projectId, tokenId, [ANY, ...new Set(parts.map(hashOf))], now())
      await deleteSeenBefore(trx, now() - REMEMBERED_MS)
    })
  }

  const hasRead = ({ projectId, tokenId }: Actor): Promise<boolean> =>
    wasSeen(db, { projectId, tokenId, hash: ANY, since: now() - DAY_MS })

  /** Which part of each text the token has read before; undefined where it has read none. */
  async function copiedIn(
    projectId: number,
    tokenId: number,
    texts: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    const parts = texts.map((text) => partsOf(text))
    const seen = await listSeen(db, projectId, tokenId, [...new Set(parts.flat().map(hashOf))], now() - REMEMBERED_MS)
    return parts.map((some) => some.find((part) => seen.has(hashOf(part))))
  }

  /** Rule 2. */
  async function checkChange(actor: Actor, { branchId, textsOf, gives }: GuardedChange): Promise<void> {
    if (actor.onlyProposes || !(await hasRead(actor))) return
    const texts = textsOf()
    const ciphers = texts.flatMap(ciphersIn)
    const named = texts.flatMap(outgoingIn)
    const values = new Set(texts.flatMap(sentValuesIn)).difference(new Set(named)) // a host is no value
    const copied = await readToday(actor, [...values])
    if (named.length === 0 && copied.length === 0 && ciphers.length === 0 && gives === undefined) return
    const given = (await listRequests(db, actor.projectId, now() - HOUR_MS, actor.tokenId)).filter(
      ({ kind, state }) => kind === 'allow' && state === 'allowed',
    )
    const allowed = new Set(given.map(({ subject }) => subject))
    if (gives !== undefined && !allowed.has(gives)) throw needsPerson(gives)
    const hosts = named.filter((one) => !allowed.has(one))
    const sent = copied.filter((one) => !allowed.has(subjectOf(one)))
    if (hosts.length > 0 || sent.length > 0) await checkKnown(actor.projectId, hosts, sent)
    const sealed = ciphers.filter((one) => !allowed.has(sealedSubject(one)))
    if (sealed.length > 0) await checkSealed(actor.projectId, branchId, sealed)
  }

  /** An address can be hidden in a value that was encrypted before it is sent: what no configuration has needs a person. */
  async function checkSealed(projectId: number, branchId: number, ciphers: readonly string[]): Promise<void> {
    const known = await foundInAll(await deps.contents(projectId), ciphersIn)
    const left = ciphers.filter((one) => !known.has(one))
    if (left.length === 0) return
    const ofBranch = await foundInAll(await deps.contentsOfBranch(projectId, branchId), ciphersIn)
    const unknown = left.find((one) => !ofBranch.has(one))
    if (unknown !== undefined) throw needsPerson(sealedSubject(unknown))
  }

  /** What production has already is no harm. */
  async function checkKnown(projectId: number, hosts: readonly string[], values: readonly string[]): Promise<void> {
    const contents = await deps.contents(projectId)
    const known = await foundInAll(contents, outgoingIn)
    const host = hosts.find((one) => !known.has(one))
    if (host !== undefined) throw needsPerson(host)
    if (values.length === 0) return
    const sent = await foundInAll(contents, sentValuesIn)
    const value = values.find((one) => !sent.has(one))
    if (value !== undefined) throw needsPerson(subjectOf(value))
  }

  /** Those that the token has read in data within a day; of too many all count as read. */
  async function readToday({ projectId, tokenId }: Actor, values: readonly string[]): Promise<readonly string[]> {
    if (values.length > MAX_SENT) return values.slice(0, 1)
    const seen = await listSeen(db, projectId, tokenId, values.map(hashOf), now() - DAY_MS)
    return values.filter((value) => seen.has(hashOf(value)))
  }

  async function request(
    { projectId, tokenId, tokenDescription, agentScope, personId }: Actor,
    kind: AgentRequest['kind'],
    subject: string,
    detail: object,
    args: unknown,
  ): Promise<string> {
    const hash = hashOf(JSON.stringify([subject, args]))
    const waiting = (await listRequests(db, projectId, now() - HOUR_MS, tokenId)).find(
      (one) => one.state === 'waiting' && one.hash === hash && one.kind === kind,
    )
    if (waiting) return waiting.id
    const id = randomBytes(12).toString('base64url')
    await inTransaction((trx) =>
      insertRequest(trx, {
        ...{ id, project_id: projectId, token_id: tokenId, token_description: tokenDescription, kind, subject, hash },
        ...{ detail: JSON.stringify(detail), state: 'waiting', decided_by: null, created_at: now() },
        person_id: (agentScope === undefined ? undefined : personId) ?? null,
      }),
    )
    return id
  }

  /** Rule 3. True once for each leave. */
  async function useLeave({ projectId, tokenId }: Actor, tool: string, args: unknown): Promise<boolean> {
    const hash = hashOf(JSON.stringify([tool, args]))
    for (const one of await listRequests(db, projectId, now() - HOUR_MS, tokenId))
      if (one.kind === 'call' && one.hash === hash && one.state === 'allowed')
        if (await inTransaction((trx) => moveRequest(trx, one, 'allowed', 'used'))) return true
    return false
  }

  const list = (actor: Actor): Promise<AgentRequest[]> => listRequests(db, actor.projectId, now() - DAY_MS)

  async function get({ projectId }: Actor, id: string): Promise<AgentRequest> {
    const found = await findRequest(db, projectId, id)
    if (!found || found.created_at < now() - DAY_MS) throw new PlatformError('agents.requestNotFound', { id: id.slice(0, 40) })
    return found
  }

  /** Of the agent itself: what became of its requests. */
  async function ownRequest(actor: Actor, id: string): Promise<AgentRequest> {
    const found = await get(actor, id)
    if (found.token_id !== actor.tokenId) throw new PlatformError('agents.requestNotFound', { id: id.slice(0, 40) })
    return found
  }

  /** Rule 4. The request, if the caller may decide about it now. */
  async function toDecide(actor: Actor, isSession: boolean, id: string): Promise<AgentRequest> {
    const found = await get(actor, id)
    if (!isSession && (actor.onlyProposes || found.token_id === actor.tokenId || (await hasRead(actor))))
      throw new PlatformError('agents.personDecides')
    if (found.kind === 'secret' && found.person_id !== null && found.person_id !== actor.personId)
      throw new PlatformError('agents.otherPerson')
    if (found.state !== 'waiting') throw new PlatformError('agents.decided', { id })
    return found
  }

  async function decide(actor: Actor, isSession: boolean, id: string, isAllowed: boolean): Promise<AgentRequest> {
    const found = await toDecide(actor, isSession, id)
    const state = isAllowed ? 'allowed' : 'refused'
    if (!(await inTransaction((trx) => moveRequest(trx, found, 'waiting', state, actor.tokenDescription))))
      throw new PlatformError('agents.decided', { id })
    return get(actor, id)
  }

  return { remember, copiedIn, checkChange, request, ownRequest, useLeave, list, toDecide, decide }
}

/** A change that can carry data out of the project. */
export interface GuardedChange {
  readonly branchId: number
  /** Of the request: JSON or another text. */
  readonly textsOf: () => readonly string[]
  /** What it gives others access by, such as `a token`. */
  readonly gives: string | undefined
}

const MAX_SHOWN = 60
const SHOWN_OF_CIPHER = 12
const sealedSubject = (cipher: string): string =>
  `an encrypted value that no configuration has (it ends with ${cipher.slice(-SHOWN_OF_CIPHER)})`
const subjectOf = (value: string): string =>
  `to send the value "${value.replaceAll(/\s+/g, ' ').slice(0, MAX_SHOWN)}", which it has read in data`

const needsPerson = (subject: string): PlatformError =>
  new PlatformError('agents.needsPerson', { subject: subject.slice(0, 120) })
