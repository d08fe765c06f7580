// One live stream for the whole console: what changed on the stack is fetched again, and nothing is polled.

import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError, type OperationName } from '../../client/src/client.ts'
import { follow } from './event-stream.ts'
import { NAME_QUERY } from './facts/name-batches.ts'
import { observable } from './observable.ts'
import { loadSession, signOut } from './session.ts'

/** Which answers a change makes old. */
const CONCERNED: Readonly<Record<string, readonly (OperationName | typeof NAME_QUERY)[]>> = {
  job: [
    'queue.search',
    'queue.searchGrouped',
    'queue.get',
    'lineage.freshness',
    'lineage.freshnessOfTable',
    'lineage.usedBy',
    'lineage.deliveries',
    'billing.usage',
  ],
  flow: ['queue.search', 'queue.get'],
  table: [
    'tables.list',
    'tables.browse',
    'tables.totals',
    'tables.get',
    'tables.preview',
    'tables.rows',
    'tables.profileNow',
    'tables.events',
    'tables.listSnapshots',
    'dashboards.result',
    'buckets.list',
    'buckets.browse',
    'buckets.get',
    'lineage.graph',
    'lineage.freshness',
    'lineage.freshnessOfTable',
    'lineage.usedBy',
    'lineage.deliveries',
    'billing.usage',
    'stream.aggregateSources', // with what each table has loaded
  ],
  configuration: [
    NAME_QUERY,
    'configurations.browse',
    'configurations.list',
    'configurations.totals',
    'configurations.get',
    'configurations.versions',
    'rows.effective',
    'lineage.graph',
    'lineage.usedBy',
    'lineage.deliveries',
    'scheduler.totals',
    'scheduler.list', // a schedule stops with what it runs, and resumes with it
  ],
  schedule: ['scheduler.list', 'scheduler.totals', 'scheduler.next'],
  file: ['files.list'],
}
/** Changes of so many seconds before the stream begins are included: what was loaded while it was opened may be old already. */
const RECENT_SECONDS = 10
/** Changes come in bursts and are answered together. */
const TOGETHER_MS = 300

const connected = observable(true)

export const useIsConnected = connected.use

/** Held open by the shell, as long as a person is signed in. */
export function useLiveChanges(): void {
  const queries = useQueryClient()
  useEffect(() => {
    let stream = new AbortController()
    const old = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | undefined
    const refresh = () => {
      const names = [...old]
      old.clear()
      for (const name of names)
        if (queries.isFetching({ queryKey: [name] }) > 0)
          old.add(name) // the answer on its way may be from before the change
        else void queries.invalidateQueries({ queryKey: [name] })
      timer = old.size > 0 ? setTimeout(refresh, TOGETHER_MS) : undefined
    }
    const onEvent = ({ event }: { event: string }): boolean => {
      for (const name of CONCERNED[event] ?? []) old.add(name)
      if (event === 'reset') void queries.invalidateQueries()
      if (old.size > 0) timer ??= setTimeout(refresh, TOGETHER_MS)
      return true
    }
    const onConnection = (isBack: boolean) => {
      if (isBack && !connected.get()) void queries.invalidateQueries() // what failed meanwhile is requested again
      connected.set(isBack)
    }
    const connect = () => {
      stream = new AbortController()
      follow('changes.stream', { query: { recentSeconds: RECENT_SECONDS } }, stream.signal, onEvent, onConnection).catch(
        (error: unknown) => {
          if (error instanceof ApiError && error.status === 401) signOut()
          if (error instanceof ApiError && error.code === 'people.notMember') void loadSession()
        },
      )
    }
    /** An open stream does not notice a lost network; the browser does. */
    const disconnect = () => {
      stream.abort()
      connected.set(false)
    }
    connect()
    addEventListener('offline', disconnect)
    addEventListener('online', connect)
    return () => {
      removeEventListener('offline', disconnect)
      removeEventListener('online', connect)
      stream.abort()
      clearTimeout(timer)
    }
  }, [queries])
}

/** Renders again every second, for a running time. */
export function useSeconds(isGoing: boolean): void {
  const [, tick] = useState(0)
  useEffect(() => {
    if (!isGoing) return
    const timer = setInterval(() => tick((count) => count + 1), 1000)
    return () => clearInterval(timer)
  }, [isGoing])
}
