// `$ref: "#/definitions/x"` and texts that are a reference are replaced by what they name.

import { ManifestError } from '../errors.ts'
import { type Dict, getKey, isDict, setKey } from '../python/values.ts'
import { nearestOf } from './nearest.ts'

/** References multiply: a manifest of a kilobyte could name more nodes than there is memory for. */
const MAX_NODES = 3_000_000
const MAX_DEPTH = 200

export function resolveReferences(manifest: Dict): Dict {
  let nodes = 0
  const open = new Set<string>()

  function resolve(node: unknown, depth: number): unknown {
    if (++nodes > MAX_NODES)
      throw new ManifestError(`The manifest has more than ${MAX_NODES} nodes after its references are resolved.`)
    if (depth > MAX_DEPTH) throw new ManifestError(`The manifest is nested deeper than ${MAX_DEPTH} levels.`)
    if (Array.isArray(node)) return node.map((each) => resolve(each, depth + 1))
    if (typeof node === 'string') return node.startsWith('#/') ? referenced(node, depth) : node
    if (!isDict(node)) return node
    const own: Dict = {}
    for (const [key, value] of Object.entries(node)) if (key !== '$ref') setKey(own, key, resolve(value, depth + 1))
    if (!Object.hasOwn(node, '$ref')) return own
    const target = resolve(node.$ref, depth + 1)
    return isDict(target) ? { ...target, ...own } : target
  }

  function referenced(reference: string, depth: number): unknown {
    if (open.has(reference)) throw new ManifestError(`The reference ${reference} leads back to itself.`)
    open.add(reference)
    const value = resolve(lookUp(reference, manifest), depth + 1)
    open.delete(reference)
    return value
  }

  return resolve(manifest, 0) as Dict
}

/** Keys may hold slashes: the longest key that exists wins. */
function lookUp(reference: string, manifest: Dict): unknown {
  let node: unknown = manifest
  let rest = reference.slice(2)
  while (rest !== '') {
    const whole = memberOf(node, rest)
    if (whole !== undefined) return whole
    const parts = rest.split('/')
    const length = parts.findIndex((_, i) => memberOf(node, parts.slice(0, i + 1).join('/')) !== undefined) + 1
    if (length === 0) {
      const known = isDict(node) ? nearestOf(parts[0]!, Object.keys(node)) : undefined
      throw new ManifestError(
        `The reference ${reference} names '${parts[0]}', which does not exist.${known ? ` Did you mean '${known}'?` : ''}`,
      )
    }
    node = memberOf(node, parts.slice(0, length).join('/'))
    rest = parts.slice(length).join('/')
  }
  return node
}

function memberOf(node: unknown, key: string): unknown {
  if (Array.isArray(node)) return /^\d+$/.test(key) ? node[Number(key)] : undefined
  return isDict(node) ? getKey(node, key) : undefined
}
