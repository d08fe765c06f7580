// What activating a schedule would do: the same code, over transactions that are undone.

import { formatTimestamp } from '../../../kit/clock.ts'
import type { Actor } from '../../../model/actor.ts'
import type { DryRunAnswer } from '../../../model/dry-run.ts'
import type { Origin } from '../../../model/event.ts'
import type { Scheduler } from './scheduler.ts'

const SHOWN_RUNS = 10

/** `scheduler` is one whose transactions are undone. */
export const createScheduleDryRun =
  (scheduler: Pick<Scheduler, 'activate' | 'preview'>) =>
  async (actor: Actor, wanted: Parameters<Scheduler['activate']>[1], origin: Origin): Promise<DryRunAnswer> => {
    const { record } = await scheduler.activate(actor, wanted, origin)
    const { schedule, policy, target, configurationId, nextRunAt, stoppedReason } = record
    const runs = nextRunAt ? scheduler.preview(schedule.cronTab, schedule.timezone, policy.dst, SHOWN_RUNS) : []
    const { componentId, configurationId: targetId } = target
    return {
      isDryRun: true,
      operationName: 'scheduleActivate',
      tableId: null,
      results: { configurationId, schedule, target, stoppedReason: stoppedReason ?? null },
      rows: null,
      tables: [],
      configurations: [{ componentId, configurationId: targetId, rowId: null, name: '' }],
      nextRuns: runs.map(({ at }) => ({ configurationId: targetId, executionTime: formatTimestamp(new Date(at)) })),
    }
  }
