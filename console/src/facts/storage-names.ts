// Tables and buckets of the storage by what is typed or named: with 100,000 of them, only the first that match are loaded.

import { useEffect, useState } from 'react'
import type { Answer } from '../../../client/src/client.ts'
import { useLoad } from '../load.tsx'

export type BrowsedTable = NonNullable<Answer<'tables.browse'>[number]['table']>

/** As many as people look through before they type more. */
export const OFFERED = 50
/** A text is searched for when no letter was typed for so long. */
const TYPED_MS = 150
/** The most that a request can name. */
export const MAX_NAMED = 1000

/** The text that was typed last, a moment after the last letter. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    if (text === settled) return
    const timer = setTimeout(() => setSettled(text), TYPED_MS)
    return () => clearTimeout(timer)
  }, [text, settled])
  return settled
}

/** Ids of tables whose id or name contains the text, the closest first. */
export function useTableIds(text: string, { enabled = true } = {}): readonly string[] {
  const name = useSettled(text.trim())
  const query = { ...(name === '' ? {} : { name }), limit: OFFERED }
  const { data = [] } = useLoad('tables.browse', { query }, { enabled, isKept: true })
  return data.flatMap(({ table }) => (table ? [table.id] : []))
}

/** Ids of buckets whose id or name contains the text, the closest first. */
export function useBucketIds(text: string, { enabled = true } = {}): readonly string[] {
  return useBuckets(text, { enabled }).map(({ id }) => id)
}

export function useBuckets(text: string, { enabled = true, limit = OFFERED } = {}): Answer<'buckets.browse'> {
  const wanted = useSettled(text.trim())
  const query = { ...(wanted === '' ? {} : { text: wanted }), limit }
  return useLoad('buckets.browse', { query }, { enabled, isKept: true }).data ?? []
}

/** Those of some tables that exist, with their columns; undefined until they are loaded. */
export function useTablesNamed(ids: readonly string[]): readonly BrowsedTable[] | undefined {
  const wanted = useSettled([...new Set(ids.filter((id) => id !== ''))].toSorted().slice(0, MAX_NAMED).join('\n'))
  const tableId = wanted === '' ? undefined : wanted.split('\n')
  const query = useLoad('tables.browse', tableId && { query: { tableId, include: 'columns', limit: MAX_NAMED } }, {
    isKept: true,
  })
  if (!tableId) return NO_TABLES
  return query.data?.flatMap(({ table }) => table ?? [])
}

const NO_TABLES: readonly BrowsedTable[] = []
