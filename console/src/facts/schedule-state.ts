// Schedules are paused and resumed in their configuration, as everything else is; the times meanwhile are left out.

import { api } from '../session.ts'
import { SCHEDULER } from './names.ts'

export async function setScheduleState(configurationId: string, state: 'enabled' | 'disabled'): Promise<void> {
  const path = { componentId: SCHEDULER, configurationId }
  const { configuration } = await api.call('configurations.get', { path })
  const before = configuration.schedule as Readonly<Record<string, unknown>> // what a schedule is made of
  await api.call('configurations.update', {
    path,
    body: {
      configuration: { ...configuration, schedule: { ...before, state } },
      changeDescription: state === 'disabled' ? 'Paused' : 'Resumed',
    },
  })
  await api.call('scheduler.activate', { body: { configurationId } })
}
