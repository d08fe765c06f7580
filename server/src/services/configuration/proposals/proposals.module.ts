import type { Actor } from '../../../model/actor.ts'
import type { Core } from '../../../model/core.ts'
import { NO_ORIGIN } from '../../../model/event.ts'
import { defineModule } from '../../../model/module.ts'
import type { BranchesModule } from '../branches/branches.module.ts'
import type { ConfigurationsModule } from '../configurations/configurations.module.ts'
import type { MergeRequestsModule } from '../merge-requests/merge-requests.module.ts'
import { proposalsRoutes, type Review } from './proposals.routes.ts'
import { createProposals, type KnownProposal } from './proposals.ts'
import { differencesOf, hostsOf, type Side, tablesOf } from './review.ts'

export interface ProposalsModuleDeps {
  readonly core: Core
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly mergeRequests: MergeRequestsModule
}

/** By its own id, or the one that clients know. */
const isScheduler = (componentId: string): boolean => componentId.endsWith('.scheduler')

export function createProposalsModule({ core, branches, configurations, mergeRequests }: ProposalsModuleDeps) {
  const { db, inTransaction, clock, publish } = core
  const proposals = createProposals({
    ...{ db, inTransaction, clock, branches },
    mergeRequests: mergeRequests.requests,
    approve: mergeRequests.approveAndMerge,
    afterRemoval: async (projectId, branchId) => void (await publish('branch.removed', projectId, branchId)),
  })

  async function review(actor: Actor, { proposal, state }: KnownProposal): Promise<Review> {
    const nothing = { changes: [], tables: [], schedules: [], hosts: [] }
    if (state === 'accepted' || state === 'discarded') return nothing
    const { projectId, branchId } = proposal
    const branchIntoId = await branches.defaultId(projectId)
    const changes = await configurations.merging.changesOf({ projectId, branchFromId: branchId, branchIntoId })
    // The reviewer may decide about all of it, the token has made it.
    const caller = { actor: { ...actor, canManageBuckets: true }, branch: { id: branchId, isDefault: false }, origin: NO_ORIGIN }
    const sides: { readonly before: Side | undefined; readonly after: Side }[] = []
    const shown: Review['changes'][number][] = []
    for (const { componentId, configurationId, kind, isConflict } of changes) {
      const { theirs, ours } = await configurations.copies.diff(caller, componentId, configurationId)
      sides.push({ before: theirs, after: ours })
      const differences = differencesOf(kind === 'created' ? undefined : theirs, kind === 'deleted' ? undefined : ours)
      shown.push({ componentId, configurationId, name: ours.name, kind, isConflict, differences })
    }
    const known = hostsOf(await configurations.contents(projectId, branchIntoId))
    const named = hostsOf(sides.flatMap(({ after }) => [after.configuration, ...after.rows.map((row) => row.configuration)]))
    return {
      changes: shown,
      tables: [...new Set(sides.flatMap(({ after }) => tablesOf(after)))],
      schedules: changes.flatMap(({ componentId, configurationId }, at) =>
        isScheduler(componentId) ? [{ configurationId, cronTab: cronOf(sides[at]!.after) }] : [],
      ),
      hosts: [...named].sort().map((host) => ({ host, isNew: !known.has(host) })),
    }
  }

  return defineModule({
    name: 'proposals',
    routes: [proposalsRoutes({ proposals, review })],
    /** For the HTTP kernel. */
    kernel: { branchOf: proposals.branchOf, open: proposals.open },
  })
}

function cronOf({ configuration }: Side): string {
  const { schedule } = JSON.parse(configuration) as { schedule?: { cronTab?: unknown } } // anything that was saved
  return String(schedule?.cronTab ?? '')
}
