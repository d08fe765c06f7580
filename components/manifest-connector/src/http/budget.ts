// `api_budget`: how many requests may be sent in a time. The first policy whose matchers fit a request holds it back.

import type { Clock } from '../clock.ts'
import type { Interpolator } from '../jinja/interpolate.ts'
import { pythonRegExp } from '../jinja/python-regexp.ts'
import { asNumber, type Dict, isDict, truthy } from '../python/values.ts'
import { parseDuration, Timedelta } from '../time/datetime.ts'
import type { HttpResponse } from './response.ts'
import type { HttpRequest, Send } from './transport.ts'

interface Policy {
  matches(request: HttpRequest): boolean
  /** Seconds to wait before this request may be sent; 0 counts it. */
  delay(now: number): number
  update?(response: HttpResponse, now: number): void
}

const secondsOf = (text: string): number => {
  const span = parseDuration(text)
  return span instanceof Timedelta ? span.totalSeconds() : (span?.totalMonths ?? 0) * 30 * 86_400
}

function matcherOf(matchers: unknown): (request: HttpRequest) => boolean {
  const list = (Array.isArray(matchers) ? matchers : []).filter(isDict)
  if (list.length === 0) return () => true
  return ({ method, url }) =>
    list.some((matcher) => {
      const { origin, pathname } = new URL(url)
      if (typeof matcher.method === 'string' && matcher.method.toUpperCase() !== method) return false
      if (
        typeof matcher.url_base === 'string' &&
        !url.startsWith(matcher.url_base.replace(/\/$/, '')) &&
        origin !== matcher.url_base
      )
        return false
      return typeof matcher.url_path_pattern !== 'string' || pythonRegExp(matcher.url_path_pattern).test(pathname)
    })
}

function movingWindow(rates: readonly { limit: number; seconds: number }[], matches: Policy['matches']): Policy {
  const times: number[] = []
  const longest = Math.max(...rates.map(({ seconds }) => seconds))
  return {
    matches,
    delay(now) {
      while (times.length > 0 && times[0]! <= now - longest) times.shift()
      const waits = rates.map(({ limit, seconds }) => {
        const oldest = times.at(-limit)
        return oldest === undefined || times.length < limit ? 0 : oldest + seconds - now
      })
      const wait = Math.max(0, ...waits)
      if (wait === 0) times.push(now)
      return wait
    },
  }
}

function fixedWindow(limit: number, seconds: number, matches: Policy['matches']): Policy {
  let end = 0
  let used = 0
  return {
    matches,
    delay(now) {
      if (now >= end) [end, used] = [now + seconds, 0]
      if (used >= limit) return end - now
      used++
      return 0
    },
  }
}

export function createBudget(budget: unknown, clock: Clock, expressions: Interpolator, config: Dict): (send: Send) => Send {
  const number = (value: unknown, parameters: unknown) =>
    asNumber(expressions.value(value, { config, parameters: isDict(parameters) ? parameters : {} }))
  const policies: Policy[] = []
  for (const policy of isDict(budget) && Array.isArray(budget.policies) ? budget.policies.filter(isDict) : []) {
    const matches = matcherOf(policy.matchers)
    if (policy.type === 'MovingWindowCallRatePolicy') {
      const rates = (policy.rates as Dict[]).map((rate) => ({
        limit: number(rate.limit, rate.$parameters),
        seconds: secondsOf(String(rate.interval)),
      }))
      policies.push(movingWindow(rates, matches))
    } else if (policy.type === 'FixedWindowCallRatePolicy')
      policies.push(fixedWindow(number(policy.call_limit, policy.$parameters), secondsOf(String(policy.period)), matches))
    else policies.push({ matches, delay: () => 0 })
  }
  if (policies.length === 0 || !truthy(budget)) return (send) => send
  return (send) => async (request) => {
    const policy = policies.find((each) => each.matches(request))
    for (let i = 0; policy && i < 1000; i++) {
      const wait = policy.delay(clock.instant().timestamp())
      if (wait <= 0) break
      await clock.wait(wait, 'budget')
      if (clock.elapsed() === 0) break // a frozen clock would wait for ever
    }
    return send(request)
  }
}
