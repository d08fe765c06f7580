// Settings that change while the stack runs, and what operators see of it.

import { readDrill } from '../../../engines/data-dir/drill-record.ts'
import type { LiveValues } from '../../../kit/live-values.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { StackSetting } from '../../../model/stack-setting.ts'
import type { PeopleModule } from '../../access/people/people.module.ts'
import type { EventsModule } from '../events/events.module.ts'
import { operationsRoutes } from './operations.routes.ts'
import { settingsRoutes } from './settings.routes.ts'
import { createSettingsStore } from './settings.store.ts'
import { createSettings } from './settings.ts'
import { createStatus, type StatusSources } from './status.ts'

export interface SettingsModuleDeps {
  readonly core: Core
  readonly people: PeopleModule
  readonly known: readonly StackSetting[]
  readonly live: LiveValues
}

/** Reads what was changed before it returns, so that all modules start with it. */
export async function createSettingsModule({ core, people, known, live }: SettingsModuleDeps) {
  const { metadata, log } = core
  const initialLogLevel = log.level
  const settings = createSettings({
    store: createSettingsStore(core.db),
    known,
    live,
    clock: core.clock,
    log,
    inTransaction: core.inTransaction,
    recordEvent: core.recordEvent,
    sourceOf: people.asStackAdminOfOldest,
    apply: {
      MILLRACE_LOG_LEVEL: (level) => {
        log.level = String(level ?? initialLogLevel)
      },
    },
    onChange: () => metadata.hints.send('settings'),
  })
  await settings.look()
  return defineModule({
    name: 'settings',
    routes: [settingsRoutes(settings)],
    background: [
      { start: settings.start, stop: settings.stop },
      { start: () => metadata.hints.listen('settings', settings.lookAgain) },
    ],
  })
}

export interface OperationsModuleDeps extends Omit<StatusSources, 'clock' | 'database' | 'lastDrill'> {
  readonly core: Core
  readonly events: EventsModule
}

export const createOperationsModule = ({ core, events, ...status }: OperationsModuleDeps) =>
  defineModule({
    name: 'operations',
    routes: [
      operationsRoutes({
        now: core.clock.now,
        listAudit: events.listOfStack,
        status: createStatus({
          ...status,
          clock: core.clock,
          database: {
            dialect: core.metadata.dialect,
            ask: () => core.db.selectNoFrom((e) => e.lit(1).as('one')).execute(),
          },
          lastDrill: () => readDrill(core.dataDir),
        }),
      }),
    ],
  })
