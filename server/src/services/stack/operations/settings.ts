// The settings of the stack: the values of the environment, and later changes. A change applies on every node, at once here and
// within seconds elsewhere, and outlives a restart; removed, the environment applies again.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { LiveValues } from '../../../kit/live-values.ts'
import { type EventSource, eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { Person } from '../../../model/person.ts'
import type { StackSetting } from '../../../model/stack-setting.ts'
import type { createSettingsStore, SettingRow } from './settings.store.ts'

export interface SettingsDeps {
  readonly store: ReturnType<typeof createSettingsStore>
  readonly known: readonly StackSetting[]
  readonly live: LiveValues
  readonly clock: Clock
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly recordEvent: RecordEvent
  /** Who changes a setting, as the source of an event of the oldest project; undefined while there is none. */
  readonly sourceOf: (person: Person) => Promise<EventSource | undefined>
  /** What has to be set rather than read, by the name of its setting; undefined: as at the start. */
  readonly apply: Readonly<Record<string, (value: unknown) => void>>
  /** Other nodes should look. */
  readonly onChange: () => void
  readonly log: { warn(details: object, text: string): void; error(details: object, text: string): void }
}

export interface SettingState {
  readonly setting: StackSetting
  readonly changed: SettingRow | undefined
}

const LOOK_MS = 5_000

export type Settings = ReturnType<typeof createSettings>

export function createSettings(deps: SettingsDeps) {
  const { store, known, live, clock, inTransaction, recordEvent } = deps
  const byName = new Map(known.map((setting) => [setting.name, setting]))
  let changed: ReadonlyMap<string, SettingRow> = new Map()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()

  /** What was changed, here or on another node. */
  async function look(): Promise<void> {
    const rows = await store.list()
    const good = rows.flatMap((row) => {
      const value = parsed(row)
      return value === undefined ? [] : [[row, value] as const]
    })
    changed = new Map(good.map(([row]) => [row.name, row]))
    live.replace(new Map(good.map(([row, value]) => [row.name, value])))
    for (const [name, apply] of Object.entries(deps.apply)) apply(live.get(name))
  }

  /** An older or newer version may have stored values that this one does not have: they are left alone. */
  function parsed({ name, value }: SettingRow): unknown {
    const setting = byName.get(name)
    try {
      return setting?.isLive ? setting.parse(value) : undefined
    } catch (error) {
      if (!changed.has(name))
        deps.log.warn({ name, reason: (error as Error).message }, 'a stored setting is not valid; the environment counts')
      return undefined
    }
  }

  function changeable(name: string): StackSetting {
    const setting = byName.get(name)
    if (!setting) throw new PlatformError('notFound', { what: `Setting "${name.slice(0, 60)}"` })
    if (!setting.isLive) throw new PlatformError('operations.settingFixed', { name })
    return setting
  }

  async function set(person: Person, name: string, text: string, origin: Origin): Promise<SettingState> {
    const setting = changeable(name)
    try {
      setting.parse(text)
    } catch (error) {
      throw new PlatformError('validation.failed', {
        field: 'value',
        reason: `"${text.slice(0, 60)}" is ${(error as Error).message}`,
      })
    }
    const row = { name, value: text, changed_at: clock.now().getTime(), changed_by: person.name }
    await write(person, name, text, origin, (trx) => store.set(trx, row))
    return { setting, changed: row }
  }

  async function reset(person: Person, name: string, origin: Origin): Promise<SettingState> {
    const setting = changeable(name)
    await write(person, name, shownOf({ setting, changed: undefined }) ?? '', origin, (trx) => store.remove(trx, name))
    return { setting, changed: undefined }
  }

  async function write(
    person: Person,
    name: string,
    value: string,
    origin: Origin,
    work: (trx: Trx) => Promise<void>,
  ): Promise<void> {
    const source = await deps.sourceOf(person)
    await inTransaction(async (trx) => {
      await work(trx)
      if (!source) return
      const event = eventOf(
        'storage.stackSettingChanged',
        { name, value },
        { objectId: String(source.projectId), objectName: name },
      )
      await recordEvent(trx, source, event, origin)
    })
    await look()
    deps.onChange()
  }

  const lookAgain = (): void => {
    looking = looking
      .then(look)
      .catch((error: unknown) => deps.log.error({ err: error }, 'the settings could not be read; it is tried again'))
  }

  return {
    look,
    lookAgain,
    list: (): readonly SettingState[] => known.map((setting) => ({ setting, changed: changed.get(setting.name) })),
    set,
    reset,
    start(): void {
      timer = setInterval(lookAgain, LOOK_MS).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await looking
    },
  }
}

/** What counts, as text; undefined for a secret. */
export const shownOf = ({ setting, changed }: SettingState): string | undefined =>
  setting.isSecret ? undefined : (changed?.value ?? setting.given ?? setting.default.replaceAll('`', ''))
