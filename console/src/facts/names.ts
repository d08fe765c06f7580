// Names of configurations and components, for screens that show their ids.

import { useQueries, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useLoad } from '../load.tsx'
import { loadNamed, NAME_QUERY, type Named, type NamedPlace } from './name-batches.ts'

/** The component whose configurations the builder edits. */
export const EXTRACTOR = 'keboola.ex-generic-v2'
/** Of files that hold what was sent to an API and what it answered. */
export const RECORDING_TAG = 'http-exchanges'
/** Its configurations are schedules, which have a screen of their own. */
export const SCHEDULER = 'keboola.scheduler'
export const FLOW_COMPONENTS = ['keboola.flow', 'keboola.orchestrator']

export interface Component {
  readonly id: string
  readonly name: string
  readonly aliases?: readonly string[]
  readonly type: string
  readonly description: string
  readonly hasRun: boolean
  readonly documentationUrl?: string | null
  readonly flags?: readonly string[]
}

/** Every component of the stack, configured or not. */
export function useCatalogue(): readonly Component[] {
  const { data } = useLoad('index.get')
  const listed = (data?.components ?? []) as unknown as readonly Component[] // described loosely
  return listed.filter(({ id, aliases = [] }) => !aliases.includes(id)) // an entry under an alias repeats the component
}

/** `nameOf(component, configuration)`: the name people gave it, else the component's, else its id. To be called while drawing. */
export function useNames(): (component: string, configuration: string | null) => string {
  const find = useNamed()
  return (component, configuration) => {
    const named = find(component, configuration)
    return named?.name ?? named?.componentName ?? component
  }
}

/** False for a configuration that was deleted; true while nothing is loaded yet. */
export function useExisting(): (component: string, configuration: string | null) => boolean {
  const find = useNamed()
  return (component, configuration) => {
    const named = find(component, configuration)
    return named === undefined || named.name !== null
  }
}

/**
 * Requests only what is looked up while a screen is drawn, afterwards: in an effect, or with a timer when a child is drawn alone, for
 * example a list that was loaded later.
 */
function useNamed(): (component: string, configuration: string | null) => Named | undefined {
  const queries = useQueryClient()
  const [wanted, setWanted] = useState<ReadonlyMap<string, NamedPlace>>(new Map())
  const missing = useRef(new Map<string, NamedPlace>())
  const isMounted = useRef(false)
  const loaded = useQueries({ queries: [...wanted].map(([key, place]) => nameQuery(key, place)) })
  const found = new Map([...wanted.keys()].map((key, index) => [key, loaded[index]?.data]))
  const want = () => {
    const more = missing.current
    if (more.size === 0) return
    missing.current = new Map()
    setWanted((before) => ([...more.keys()].every((key) => before.has(key)) ? before : new Map([...before, ...more])))
  }
  useEffect(want)
  useEffect(() => {
    isMounted.current = true
    return () => {
      isMounted.current = false
    }
  }, [])
  return (componentId, configurationId) => {
    const key = `${componentId} ${configurationId ?? ''}`
    if (!found.has(key) && !missing.current.has(key)) {
      if (missing.current.size === 0 && isMounted.current) setTimeout(want)
      missing.current.set(key, { componentId, ...(configurationId === null ? {} : { configurationId }) })
    }
    return found.get(key) ?? queries.getQueryData<Named>([NAME_QUERY, key]) // from an earlier screen, in the first drawing
  }
}

/** A name is kept until a configuration changes (live.ts), or so long. */
const FRESH_MS = 60_000

const nameQuery = (key: string, place: NamedPlace) => ({
  queryKey: [NAME_QUERY, key],
  queryFn: () => loadNamed(place),
  staleTime: FRESH_MS,
})
