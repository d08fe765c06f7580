// States from outside: messages of the protocol, and older forms that the manifest migrates.

import { contextOf, type Deps, listOf } from './component.ts'
import { type Dict, isDict, pyStr, setKey } from './python/values.ts'

/** The state of each stream, from a list of messages or one object per stream. */
export function readStates(value: unknown): Map<string, Dict> {
  const states = new Map<string, Dict>()
  for (const message of Array.isArray(value) ? value : []) {
    const stream =
      isDict(message) && isDict(message.stream)
        ? message.stream
        : isDict(message) && isDict(message.state) && isDict(message.state.stream)
          ? message.state.stream
          : undefined
    const descriptor = stream && isDict(stream.stream_descriptor) ? stream.stream_descriptor : undefined
    if (descriptor && isDict(stream?.stream_state)) states.set(pyStr(descriptor.name), stream.stream_state)
  }
  if (isDict(value)) for (const [name, state] of Object.entries(value)) if (isDict(state)) states.set(name, state)
  return states
}

/** `LegacyToPerPartitionStateMigration`: {parent id: cursor} becomes a list of partitions. */
export function migrated(state: Dict | undefined, stream: Dict, deps: Pick<Deps, 'config' | 'expressions'>): Dict | undefined {
  if (!state || Object.keys(state).length === 0) return state
  let current = state
  for (const migration of listOf(stream.state_migrations))
    if (isDict(migration) && migration.type === 'LegacyToPerPartitionStateMigration') current = legacy(current, stream, deps)
  return current
}

function legacy(state: Dict, stream: Dict, deps: Pick<Deps, 'config' | 'expressions'>): Dict {
  const retriever = isDict(stream.retriever) ? stream.retriever : {}
  const router = isDict(retriever.partition_router) ? retriever.partition_router : {}
  const parents = listOf(router.parent_stream_configs)
  const incremental = isDict(stream.incremental_sync) ? stream.incremental_sync : {}
  const text = (of: Dict, template: unknown) => pyStr(deps.expressions.value(template, contextOf(of, deps)))
  const field = text(incremental, incremental.cursor_field ?? '')
  const isLegacy = Object.values(state).every(
    (value) => isDict(value) && Object.keys(value).length === 1 && Object.hasOwn(value, field),
  )
  if (Object.hasOwn(state, 'states') || parents.length !== 1 || !isLegacy) return state
  const parent = parents[0] as Dict
  const name = text(parent, parent.partition_field)
  const states = Object.entries(state).map(([key, cursor]) => {
    const partition: Dict = {}
    setKey(partition, name, key)
    return { partition, cursor }
  })
  return { states }
}
