// Addresses as Python's requests builds them.

import { asNumber, type Dict, pyStr } from '../python/values.ts'

interface Parts {
  readonly scheme: string
  readonly authority: string | undefined
  readonly path: string
  readonly query: string | undefined
}

const URL_PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/s

function split(text: string): Parts {
  const match = URL_PARTS.exec(text)!
  return { scheme: (match[1] ?? '').toLowerCase(), authority: match[2], path: match[3] ?? '', query: match[4] }
}

const joined = ({ scheme, authority, path, query }: Parts): string =>
  `${scheme ? `${scheme}:` : ''}${authority === undefined ? '' : `//${authority}`}${path}${query === undefined ? '' : `?${query}`}`

function withoutDots(path: string): string {
  const out: string[] = []
  const parts = path.split('/')
  for (const [i, part] of parts.entries()) {
    if (part === '..') {
      if (out.length > 1) out.pop()
      if (i === parts.length - 1) out.push('')
    } else if (part === '.') {
      if (i === parts.length - 1) out.push('')
    } else out.push(part)
  }
  return out.join('/')
}

/** urllib.parse.urljoin for http addresses. */
function urlJoin(base: string, target: string): string {
  if (target === '') return base
  const b = split(base)
  const t = split(target)
  if (t.scheme !== '' && t.scheme !== b.scheme) return target
  if (t.authority !== undefined) return joined({ ...t, scheme: t.scheme || b.scheme })
  if (t.path === '') return joined({ ...b, query: t.query ?? b.query })
  const path = t.path.startsWith('/') ? t.path : (b.path.slice(0, b.path.lastIndexOf('/') + 1) + t.path).replace(/\/{2,}/g, '/') // urljoin drops empty parts
  return joined({ scheme: b.scheme, authority: b.authority, path: withoutDots(path), query: t.query })
}

/** The leading slashes of a path go. */
export const urlOf = (base: string, path: string): string => urlFrom(base, path.replace(/^\/+/, ''))

/** A path as a page gives it: one that begins with a slash begins at the root of the host. */
export const urlFrom = (base: string, path: string): string =>
  path === '' ? base : urlJoin(base.endsWith('/') ? base : `${base}/`, path)

const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')

/** key=value pairs: lists repeat the key, null is left out. */
export function formText(values: Dict): string {
  const pairs: string[] = []
  for (const [key, value] of Object.entries(values))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== null && each !== undefined) pairs.push(`${encoded(key)}=${encoded(pyStr(each))}`)
  return pairs.join('&')
}

/** What a URL cannot carry is percent-encoded; what is encoded already stays. */
const requoted = (text: string): string =>
  text.replace(/%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!#$&'()*+,/:;=?@%]/gu, (c) => encodeURIComponent(c.toWellFormed()))

/** Parameters that the address already has with the same value are not added again. */
function deduplicated(query: string, params: Dict): Dict {
  const first = new Map<string, string>()
  for (const pair of query.split('&')) {
    const at = pair.indexOf('=')
    if (at <= 0) continue
    const [key, value] = [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))]
    if (value !== '' && !first.has(key)) first.set(key, value)
  }
  return Object.fromEntries(
    Object.entries(params).filter(([key, value]) => first.get(key) !== (Array.isArray(value) ? pyStr(value) : pyStr(value))),
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

export function withParams(url: string, params: Dict): string {
  const parts = split(url)
  const form = formText(deduplicated(parts.query ?? '', params))
  const query = [parts.query, form].filter((part) => part !== undefined && part !== '').join('&')
  return joined({ ...parts, path: requoted(parts.path || '/'), query: query === '' ? undefined : requoted(query) })
}

export const portOf = (url: URL): number => asNumber(url.port || (url.protocol === 'https:' ? 443 : 80))
