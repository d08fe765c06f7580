// Failures of a project, grouped by cause: one cause, how often, since when, in which configurations (spec platform 2.5).

import { Type } from 'typebox'
import { CAUSES, isCauseKind } from '../../../../../contract/failure-causes.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import type { FailuresOfConfiguration } from './job-search.store.ts'

const Time = Type.String({ examples: ['2026-01-31T12:00:00.000Z'] })
const Nullable = (text: ReturnType<typeof Type.String>) => Type.Union([text, Type.Null()])

export const FailureGroupView = Type.Object(
  {
    cause: Type.Object({
      kind: Type.String(),
      subject: Nullable(Type.String()),
      text: Type.String(),
      advice: Type.String(),
      help: Type.String(),
    }),
    count: Type.Integer(),
    firstTime: Time,
    lastTime: Time,
    lastJob: Type.Object({ id: Type.String(), message: Type.String() }),
    configurationsCount: Type.Integer({ description: 'Number of configurations with this failure.' }),
    configurations: Type.Array(
      Type.Object({
        componentId: Type.String(),
        configId: Nullable(Type.String()),
        branchId: Type.String(),
        count: Type.Integer(),
        lastJobId: Type.String(),
        lastTime: Time,
      }),
      { description: 'Those with the newest failures.' },
    ),
  },
  { title: 'FailureGroup' },
)

export interface FailureGroup {
  readonly kind: string
  readonly subject: string | null
  /** The newest failure first. */
  readonly configurations: readonly FailuresOfConfiguration[]
}

/** In the order of their newest failures. */
export function groupFailures(found: readonly FailuresOfConfiguration[]): FailureGroup[] {
  const groups = new Map<string, { kind: string; subject: string | null; configurations: FailuresOfConfiguration[] }>()
  for (const one of found) {
    const key = JSON.stringify([one.kind, one.subject])
    const group = groups.get(key) ?? { kind: one.kind, subject: one.subject, configurations: [] }
    group.configurations.push(one)
    groups.set(key, group)
  }
  return [...groups.values()]
}

export function failureGroupView({ kind, subject, configurations }: FailureGroup, messages: ReadonlyMap<number, string>) {
  const { text, advice } = CAUSES[isCauseKind(kind) ? kind : 'run.componentFailed']
  const newest = configurations[0]! // a group has a failure
  return {
    cause: { kind, subject, text, advice, help: `/help/errors#${kind}` },
    count: configurations.reduce((sum, { count }) => sum + count, 0),
    firstTime: timeOf(Math.min(...configurations.map(({ firstAt }) => firstAt))),
    lastTime: timeOf(newest.lastAt),
    lastJob: { id: String(newest.lastJobId), message: messages.get(newest.lastJobId) ?? '' },
    configurationsCount: configurations.length,
    configurations: configurations.slice(0, MAX_SHOWN).map((one) => ({
      componentId: one.componentId,
      configId: one.configurationId,
      branchId: String(one.branchId),
      count: one.count,
      lastJobId: String(one.lastJobId),
      lastTime: timeOf(one.lastAt),
    })),
  }
}

/** Configurations of one cause that are listed; a search by `causeKind` finds the jobs of the others. */
const MAX_SHOWN = 100

const timeOf = (ms: number): string => formatTimestamp(new Date(ms))
