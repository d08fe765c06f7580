// Schedules a page at a time, and those of the configurations that a screen shows: a project may have a hundred thousand.

import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import type { Schedule } from '../../../client/src/operations.ts'
import { loadOptions, useLoad } from '../load.tsx'
import { api } from '../session.ts'
import { inParts } from './in-parts.ts'
import { useSettled } from './storage-names.ts'

export const SCHEDULES_PAGE = 100

export function useSchedulePages() {
  const query = useInfiniteQuery({
    queryKey: ['scheduler.list', 'pages'],
    queryFn: ({ pageParam, signal }) =>
      api.call('scheduler.list', { query: { limit: SCHEDULES_PAGE, offset: pageParam }, signal }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < SCHEDULES_PAGE ? undefined : pages.length * SCHEDULES_PAGE),
  })
  return { query, schedules: (query.data?.pages ?? []).flat() }
}

/** Those that run one of these configurations. */
export function useSchedulesOf(configurationIds: readonly string[]): readonly Schedule[] {
  const ids = [...new Set(configurationIds)].toSorted()
  const answers = useQueries({
    queries: inParts(ids).map((part) => loadOptions('scheduler.list', { query: { configurationIds: part } }, true)),
  })
  return answers.flatMap(({ data }) => data ?? [])
}

/** Those of configurations whose name contains the text. Undefined while they are searched, or without a text. */
export function useSchedulesNamed(text: string): readonly Schedule[] | undefined {
  const wanted = useSettled(text.trim())
  const named = useLoad('configurations.browse', wanted === '' ? undefined : { query: { text: wanted, limit: SCHEDULES_PAGE } })
  const ids = named.data?.map(({ configurationId }) => configurationId) ?? []
  const found = useLoad('scheduler.list', ids.length === 0 ? undefined : { query: { configurationIds: ids } })
  if (wanted === '' || wanted !== text.trim() || !named.data) return undefined
  return ids.length === 0 ? [] : found.data
}
