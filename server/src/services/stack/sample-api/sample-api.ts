// Rules of the sample shop: who is logged in, the rate limit, which page comes next.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { createContacts } from './contacts.ts'
import { CUSTOMER_COUNT, type Customer, customer, ORDER_COUNT, ORDER_EVERY_MS, type Order, order } from './shop.ts'

/** Public: the login is there for practice and protects nothing. */
export const SAMPLE_LOGIN = { username: 'ada', password: 'lovelace' } as const
const SESSION_SECONDS = 600
export const REQUESTS_A_SECOND = 20
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

export interface OrdersQuery {
  readonly after?: string | undefined
  /** Seconds since 1970. */
  readonly since?: number | undefined
  readonly limit: number
  /** One order of the first page is not what it should be. */
  readonly bad: boolean
}

export interface OrdersPage {
  readonly orders: (Order | BadOrder)[]
  /** For `after`; null on the last page. */
  readonly next: string | null
}

type BadOrder = Omit<Order, 'items'> & { readonly items: string }

export interface CustomersPage {
  readonly customers: Customer[]
  readonly page: number
  readonly pages: number
  readonly total: number
}

export type SampleApi = ReturnType<typeof createSampleApi>

export interface SampleApiDeps {
  readonly clock: Clock
  readonly isServed: boolean
}

export function createSampleApi({ clock, isServed }: SampleApiDeps) {
  /** Requests of each session in the current second. */
  const asked = new Map<string, number>()
  let second = 0

  const nowSeconds = () => Math.floor(clock.now().getTime() / 1000)

  function logIn(username: string, password: string): { token: string; expiresIn: number } {
    if (username !== SAMPLE_LOGIN.username || password !== SAMPLE_LOGIN.password) throw new PlatformError('sample.loginWrong')
    const until = nowSeconds() + SESSION_SECONDS
    return { token: `${until}-${signature(until)}`, expiresIn: SESSION_SECONDS }
  }

  /** Throws unless the session is valid; false when it has sent too many requests. */
  function admit(token: string): boolean {
    const [until = '', signed = ''] = token.split('-')
    if (!isSame(signed, signature(Number(until))) || Number(until) <= nowSeconds())
      throw new PlatformError('sample.sessionInvalid')
    if (second !== nowSeconds()) asked.clear()
    second = nowSeconds()
    const count = (asked.get(token) ?? 0) + 1
    asked.set(token, count)
    return count <= REQUESTS_A_SECOND
  }

  /** Oldest first, so that orders that come in meanwhile are at the end and no page shifts. */
  function orders({ after, since, limit, bad }: OrdersQuery): OrdersPage {
    const newest = Math.floor(clock.now().getTime() / ORDER_EVERY_MS)
    const oldest = Math.max(newest - ORDER_COUNT + 1, Math.ceil(((since ?? 0) * 1000) / ORDER_EVERY_MS))
    const first = after === undefined ? oldest : Math.max(oldest, readCursor(after) + 1)
    const last = Math.min(newest, first + limit - 1)
    const page = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => order(first + index))
    return {
      orders: bad && after === undefined ? page.map((one, index) => (index === 1 ? broken(one) : one)) : page,
      next: last < newest ? writeCursor(last) : null,
    }
  }

  function customers(page: number, limit: number): CustomersPage {
    const ids = Array.from({ length: CUSTOMER_COUNT }, (_, index) => index + 1)
    return {
      customers: ids.slice((page - 1) * limit, page * limit).map(customer),
      page,
      pages: Math.ceil(CUSTOMER_COUNT / limit),
      total: CUSTOMER_COUNT,
    }
  }

  /** Under which addresses it is found from this machine: the extractor may connect to them, for this path only. */
  function places(listeningOrigin: string, publicUrl: string | undefined): readonly string[] {
    if (!isServed) return []
    const { protocol, port, host } = new URL(listeningOrigin)
    const origins = [...LOOPBACK.map((name) => `${protocol}//${name}${port && `:${port}`}`), `${protocol}//${host}`]
    if (publicUrl !== undefined) origins.push(new URL(publicUrl).origin)
    return [...new Set(origins)].map((origin) => `${origin}/sample/`)
  }

  return { isServed, logIn, admit, orders, customers, places, contacts: createContacts() }
}

const broken = (one: Order): BadOrder => ({ ...one, items: 'two lamps' })

const signature = (until: number): string => createHmac('sha256', SAMPLE_LOGIN.password).update(String(until)).digest('hex')

const isSame = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

const writeCursor = (id: number): string => Buffer.from(`order:${id}`).toString('base64url')

function readCursor(text: string): number {
  const [, id] = /^order:(\d{1,12})$/.exec(Buffer.from(text, 'base64url').toString('utf8')) ?? []
  if (id === undefined) throw new PlatformError('sample.cursorUnknown', { cursor: text.slice(0, 60) })
  return Number(id)
}
