// A manifest from its text: YAML 1.1 as Python reads it (JSON is a part of it), references, parameters, types, and then the check.

import { LineCounter, parseDocument } from 'yaml'
import { ManifestError } from '../errors.ts'
import { parseJson } from '../python/json.ts'
import { type Dict, isDict } from '../python/values.ts'
import { checkManifest } from './check.ts'
import { propagate } from './parameters.ts'
import { resolveReferences } from './references.ts'

const MAX_BYTES = 20 * 1024 * 1024

export function loadManifest(source: string | Dict): Dict {
  const raw = typeof source === 'string' ? parseManifest(source) : source
  if (!isDict(raw))
    throw new ManifestError('The manifest is not an object. Expected keys such as version, type, check and streams.')
  const resolved = resolveReferences(raw)
  const manifest = propagate('', { ...resolved, type: resolved.type ?? 'DeclarativeSource' }, {})
  checkManifest(manifest, typeof source === 'string' ? (path) => lineOf(source, path) : () => undefined)
  return manifest
}

export function parseManifest(text: string): unknown {
  if (text.length > MAX_BYTES) throw new ManifestError(`The manifest is larger than ${MAX_BYTES} bytes.`)
  if (/^\s*\{/.test(text)) {
    try {
      return parseJson(text)
    } catch {
      // YAML in braces, or a mistake whose line the YAML parser names.
    }
  }
  const { document, lines } = documentOf(text)
  const [problem] = document.errors
  if (problem) {
    const { line, col } = lines.linePos(problem.pos[0])
    throw new ManifestError(
      `The manifest is not valid YAML: ${problem.message.split('\n')[0]?.replace(/:$/, '')} (line ${line}, column ${col}).`,
    )
  }
  try {
    return document.toJS({ maxAliasCount: 10_000 })
  } catch (cause) {
    throw new ManifestError('The manifest uses its YAML aliases too often.', cause)
  }
}

function documentOf(text: string) {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    version: '1.1',
    merge: true,
    lineCounter: lines,
    // Dates stay texts: expressions take texts only.
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:timestamp'),
  })
  return { document, lines }
}

/** The line of a path of the resolved manifest, as far as it can be followed in the text. */
function lineOf(text: string, path: readonly (string | number)[]): number | undefined {
  const { document, lines } = documentOf(text)
  let node: unknown = document.contents
  let at: number | undefined
  const get = (of: unknown, key: string | number): unknown =>
    (of as { get?: (key: string | number, keep: boolean) => unknown })?.get?.(key, true)
  const plain = (of: unknown): unknown => (of as { value?: unknown })?.value ?? of
  const followed = (of: unknown): unknown => {
    let found = of
    for (let i = 0; i < 20; i++) {
      const reference = plain(get(found, '$ref')) ?? plain(found)
      if (typeof reference !== 'string' || !reference.startsWith('#/')) return found
      found = document.getIn(reference.slice(2).split('/'), true)
    }
    return found
  }
  for (const key of path) {
    const next = get(node, key) ?? get(followed(node), key)
    if (next === undefined || next === null) break
    node = next
    const range = (node as { range?: readonly number[] }).range
    if (range) at = lines.linePos(range[0]!).line
  }
  return at
}
