// What is typed and not saved. It survives a reload of the page, with the version it began from; secrets in it do not.

import { useState } from 'react'
import { isSameDocument } from './changes.ts'
import { withoutClearSecrets } from './json-text.ts'

export interface Saved {
  readonly text: string
  readonly version: number
}

export interface Draft {
  /** What the editing began from. */
  readonly base: Saved
  readonly text: string
  readonly isChanged: boolean
  /** Another person saved a newer version since the editing began. */
  readonly isBehind: boolean
  readonly edit: (text: string) => void
  readonly discard: () => void
}

/** A text and the version that it is to be saved over. */
export interface Kept {
  readonly base: Saved
  readonly text: string
}

export interface DraftStore {
  /** The draft of one document; `key` names it. */
  readonly draftOf: (key: string, saved: Saved) => Draft
  readonly keys: () => readonly string[]
}

function readKept(prefix: string): ReadonlyMap<string, Kept> {
  const kept = new Map<string, Kept>()
  for (const key of Object.keys(sessionStorage)) {
    if (!key.startsWith(prefix)) continue
    try {
      kept.set(key.slice(prefix.length), JSON.parse(sessionStorage.getItem(key)!) as Kept)
    } catch {
      sessionStorage.removeItem(key)
    }
  }
  return kept
}

/** All drafts below one name: the root of a configuration and its rows. */
export function useDrafts(name: string): DraftStore {
  const prefix = `millrace.draft ${name} `
  const [kept, setKept] = useState(() => readKept(prefix))
  const keep = (key: string, value: Kept | undefined) => {
    setKept((before) => {
      const next = new Map(before)
      if (value) next.set(key, value)
      else next.delete(key)
      return next
    })
    if (value) sessionStorage.setItem(prefix + key, JSON.stringify({ ...value, text: withoutClearSecrets(value.text) }))
    else sessionStorage.removeItem(prefix + key)
  }
  return {
    keys: () => [...kept.keys()],
    draftOf: (key, saved) => {
      const mine = kept.get(key)
      // A newer version with the same content here: a row was added, a description changed.
      const isSame = mine === undefined || (saved.version > mine.base.version && isSameDocument(saved.text, mine.base.text))
      const base = isSame ? saved : mine.base
      const text = mine?.text ?? saved.text
      return {
        base,
        text,
        isChanged: kept.has(key),
        isBehind: saved.version > base.version,
        edit: (next) => keep(key, isSameDocument(next, base.text) ? undefined : { base, text: next }),
        discard: () => keep(key, undefined),
      }
    },
  }
}
