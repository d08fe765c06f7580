// Names of configurations and components, for screens that show their ids.

import { useMemo } from 'react'
import { useLoad } from '../load.tsx'

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
  readonly configurations?: readonly {
    readonly id: string
    readonly name: string
    readonly version: number
    readonly isDisabled?: boolean
    readonly creatorToken?: { readonly description: string }
    readonly configuration?: unknown
  }[]
}

/** Components with the names of their configurations; `withDocuments` also with what they say, which can be megabytes. */
export function useComponents({ withDocuments = false } = {}) {
  const query = useLoad('components.list', { query: withDocuments ? { include: 'configuration' } : {} })
  return { ...query, data: query.data as unknown as readonly Component[] | undefined } // configurations are described loosely
}

/** Every component of the stack, configured or not. */
export function useCatalogue(): readonly Component[] {
  const { data } = useLoad('index.get')
  const listed = (data?.components ?? []) as unknown as readonly Component[] // described loosely
  return listed.filter(({ id, aliases = [] }) => !aliases.includes(id)) // an entry under an alias repeats the component
}

/** `nameOf(component, configuration)`: the name people gave it, else what is known. */
export function useNames(): (component: string, configuration: string | null) => string {
  const { data } = useComponents()
  const names = useMemo(
    () =>
      new Map(
        (data ?? []).flatMap(({ id, name, aliases = [], configurations = [] }) =>
          [id, ...aliases].flatMap((known) => [
            [known, name] as const,
            ...configurations.map((one) => [`${known} ${one.id}`, one.name] as const),
          ]),
        ),
      ),
    [data],
  )
  return (component, configuration) => names.get(`${component} ${configuration}`) ?? names.get(component) ?? component
}

/** False for a configuration that was deleted; true while nothing is known yet. */
export function useExisting(): (component: string, configuration: string | null) => boolean {
  const { data } = useComponents()
  return (component, configuration) =>
    data === undefined ||
    data.some(
      ({ id, aliases = [], configurations = [] }) =>
        (id === component || aliases.includes(component)) && configurations.some((one) => one.id === configuration),
    )
}
