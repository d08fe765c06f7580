// The problems that the scheduler finds in configurations of every component.

import type { ContentProblem } from '../../../model/content-problem.ts'
import type { Scheduler } from './scheduler.ts'

export const createScheduleRule =
  ({ contentProblems }: Pick<Scheduler, 'contentProblems'>, schedulerComponentId: string) =>
  async (projectId: number, componentId: string, content: unknown): Promise<readonly ContentProblem[]> =>
    componentId === schedulerComponentId ? contentProblems(projectId, content) : []
