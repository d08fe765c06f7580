// How many requests one address and one token may send, and what happens to an address that keeps presenting wrong tokens.
//  (1) A limit is a bucket that refills: so many requests a second on average, and ten seconds' worth at once.
//  (2) After too many wrong tokens within a minute an address is locked out for a minute. Tokens that were valid from there before keep
//      working, whichever other clients share the address; any other is refused, valid or not, so that guessing reveals nothing.
//  (3) Memory is bounded: the addresses and tokens seen longest ago are evicted first.
// Each node counts for itself.

import { isIPv6 } from 'node:net'
import type { Clock } from '../kit/clock.ts'

export interface RequestLimitSettings {
  /** Requests a second; 0 is without limit. */
  readonly perAddress: number
  readonly perToken: number
  /** Wrong tokens a minute; 0 is without limit. */
  readonly wrongTokens: number
  /** Whether the limits hold for this machine's own programs too. */
  readonly loopback: boolean
}

export const NO_LIMITS: RequestLimitSettings = { perAddress: 0, perToken: 0, wrongTokens: 0, loopback: false }

/** Why a request is turned away, and after how many seconds it is worth trying again. */
export interface TooMany {
  readonly code: 'tooManyRequests' | 'lockedOut'
  readonly seconds: number
}

/** Each answers undefined when the request may pass. */
export interface RequestLimits {
  address(address: string): TooMany | undefined
  /** `tokenId` undefined: the token is wrong. */
  token(address: string, tokenId: number | undefined): TooMany | undefined
}

const BURST_SECONDS = 10
const WINDOW_MS = 60_000
const LOCKED_MS = 60_000
const MAX_KEPT = 10_000
const MAX_TOKENS_OF_ADDRESS = 1_000

interface Bucket {
  left: number
  at: number
}

interface Guesses {
  wrong: number
  since: number
  lockedUntil: number
}

export function createRequestLimits(settings: RequestLimitSettings, clock: Clock): RequestLimits {
  const addresses = new Map<string, Bucket>()
  const tokens = new Map<number, Bucket>()
  const guesses = new Map<string, Guesses>()
  /** Tokens that were right, by address. */
  const known = new Map<string, Set<number>>()
  const isFree = (address: string): boolean => !settings.loopback && LOOPBACK.test(address)

  function take<K>(buckets: Map<K, Bucket>, key: K, perSecond: number): TooMany | undefined {
    if (perSecond === 0) return undefined
    const now = clock.now().getTime()
    const max = perSecond * BURST_SECONDS
    const bucket = buckets.get(key) ?? remember(buckets, key, { left: max, at: now })
    bucket.left = Math.min(max, bucket.left + (Math.max(0, now - bucket.at) / 1000) * perSecond)
    bucket.at = now
    if (bucket.left < 1) return { code: 'tooManyRequests', seconds: Math.max(1, Math.ceil((1 - bucket.left) / perSecond)) }
    bucket.left -= 1
    return undefined
  }

  function lockedOut(place: string): TooMany | undefined {
    const ms = (guesses.get(place)?.lockedUntil ?? 0) - clock.now().getTime()
    return ms > 0 ? { code: 'lockedOut', seconds: Math.ceil(ms / 1000) } : undefined
  }

  function countWrong(place: string): void {
    const now = clock.now().getTime()
    const before = guesses.get(place)
    const entry =
      before && now - before.since < WINDOW_MS ? before : remember(guesses, place, { wrong: 0, since: now, lockedUntil: 0 })
    entry.wrong += 1
    if (entry.wrong >= settings.wrongTokens) entry.lockedUntil = now + LOCKED_MS
  }

  function rememberRight(place: string, tokenId: number): void {
    const right = known.get(place) ?? remember(known, place, new Set())
    if (right.size < MAX_TOKENS_OF_ADDRESS) right.add(tokenId)
  }

  return {
    address: (address) => (isFree(address) ? undefined : take(addresses, placeOf(address), settings.perAddress)),
    token(address, tokenId) {
      if (isFree(address)) return undefined
      const place = placeOf(address)
      if (settings.wrongTokens > 0) {
        const isKnown = tokenId !== undefined && known.get(place)?.has(tokenId)
        const locked = isKnown ? undefined : lockedOut(place)
        if (locked) return locked
        if (tokenId === undefined) countWrong(place)
        else if (!isKnown) rememberRight(place, tokenId)
      }
      return tokenId === undefined ? undefined : take(tokens, tokenId, settings.perToken)
    },
  }
}

function remember<K, V>(kept: Map<K, V>, key: K, value: V): V {
  kept.delete(key)
  kept.set(key, value)
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value as K) // not empty: an entry was just added
  return value
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/

/** The holder of one IPv6 address has the other 2^64 of its network. */
export function placeOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('%')[0]!.split('::')
  const groups = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const filled =
    tail === undefined ? groups : [...groups, ...Array<string>(Math.max(0, 8 - groups.length - last.length)).fill('0'), ...last]
  return filled.slice(0, 4).join(':')
}
