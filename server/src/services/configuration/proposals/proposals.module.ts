import { PlatformError } from '../../../kit/errors.ts'
import { repeat } from '../../../kit/repeat.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Core } from '../../../model/core.ts'
import { NO_ORIGIN } from '../../../model/event.ts'
import { defineModule } from '../../../model/module.ts'
import type { AgentGuardsModule } from '../../access/agent-guards/agent-guards.module.ts'
import type { EncryptionModule } from '../../access/encryption/encryption.module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { JobRecordsModule } from '../../jobs/queue/job-records.module.ts'
import type { BranchesModule } from '../branches/branches.module.ts'
import type { ComponentsModule } from '../components/components.module.ts'
import type { ConfigurationsModule } from '../configurations/configurations.module.ts'
import type { MergeRequestsModule } from '../merge-requests/merge-requests.module.ts'
import { proposalsRoutes, type Review } from './proposals.routes.ts'
import { findProposalOfRequest, type Replaced, setStorageApplied } from './proposals.store.ts'
import { createProposals, type KnownProposal } from './proposals.ts'
import { type Difference, differencesBetween, differencesOf, type Side, tablesOf } from './review.ts'
import { setDue } from './runs.store.ts'
import { createStartRuns, type StartRunsDeps } from './runs.ts'

export interface ProposalsModuleDeps {
  readonly core: Core
  readonly agentGuards: AgentGuardsModule
  readonly encryption: EncryptionModule
  readonly tokens: TokensModule
  readonly jobRecords: JobRecordsModule
  readonly components: ComponentsModule
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly mergeRequests: MergeRequestsModule
  /** Of the queue, which is created later. */
  readonly jobs: JobsOfProposals
}

export interface JobsOfProposals {
  readonly prepareLater: (
    actor: Actor,
    request: { readonly component: string; readonly config: string; readonly mode: 'run' },
    options: { readonly branch: { readonly id: number; readonly isDefault: boolean }; readonly baseUrl: string },
  ) => ReturnType<StartRunsDeps['jobs']['prepare']>
  readonly wake: () => void
  readonly baseUrl: () => string
}

const SWEEP_MS = 3_600_000
/** Runs are started when their proposal is applied; this is for those whose node has stopped. */
const DUE_RUNS_MS = 5_000
const ENDED: ReadonlySet<string> = new Set(['accepted', 'undone', 'expired', 'discarded'])

interface Place {
  readonly componentId: string
  readonly configurationId: string
}

const keyOf = ({ componentId, configurationId }: Place): string => `${componentId}/${configurationId}`
const unique = <T extends Place>(places: readonly T[]): T[] => [...new Map(places.map((one) => [keyOf(one), one])).values()]

/** By its own id, or the one that clients use. */
const isScheduler = (componentId: string): boolean => componentId.endsWith('.scheduler')

const schedulesIn = (changes: readonly (Place & { readonly kind: string })[]) =>
  changes
    .filter(({ componentId }) => isScheduler(componentId))
    .map(({ configurationId, kind }) => ({ configurationId, isNew: kind === 'created' }))

export type ProposalsModule = ReturnType<typeof createProposalsModule>

export function createProposalsModule(deps: ProposalsModuleDeps) {
  const { core, agentGuards, encryption, tokens, jobRecords, components, branches, configurations, mergeRequests, jobs } = deps
  const { db, inTransaction, clock, publish, subscribe, log } = core
  const { usualDuration } = jobRecords
  const isDestination = (componentId: string): boolean =>
    ['writer', 'application'].includes(components.find(componentId)?.type ?? '')
  const proposals = createProposals({
    ...{ db, inTransaction, clock, branches },
    mergeRequests: mergeRequests.requests,
    approve: mergeRequests.approveAndMerge,
    storageConflicts: async (projectId, branchId) => {
      const place = { projectId, branchId, branchIntoId: await branches.defaultId(projectId) }
      return (await publish('proposal.changesListed', place)).flat().filter(({ isConflict }) => isConflict)
    },
    findRun: async (projectId, branchId, { componentId, configurationId }) => {
      const place = { projectId, branchId, componentId: components.canonicalId(componentId), configurationId }
      await configurations.runAccess.get(place)
      return { componentId: place.componentId, configurationId }
    },
    replacedBy: async (projectId, branchId) => {
      const branchIntoId = await branches.defaultId(projectId)
      const changes = await configurations.merging.changesOf({ projectId, branchFromId: branchId, branchIntoId })
      const replaced: Replaced[] = []
      for (const { componentId, configurationId, kind } of changes) {
        const place = { projectId, branchId: branchIntoId, componentId, configurationId }
        const version = kind === 'created' ? null : ((await configurations.runAccess.find(place))?.version ?? null)
        replaced.push({ componentId, configurationId, kind, version })
      }
      return replaced
    },
    bringBack: async (trx, { actor, origin }, { id, storageApplied }, replaced) => {
      const branch = { id: await branches.defaultId(actor.projectId), isDefault: true }
      const inside = configurations.inside(trx, () => async () => [])
      const caller = { actor: { ...actor, canManageBuckets: true }, branch, origin }
      for (const { componentId, configurationId, kind, version } of replaced) {
        const place = { projectId: actor.projectId, branchId: branch.id, componentId, configurationId }
        const now = (await inside.runAccess.find(place))?.version
        const expected = kind === 'deleted' ? undefined : (version ?? 0) + 1
        if (now !== expected)
          throw new PlatformError('proposals.changedSince', { id, component: componentId, configuration: configurationId })
        if (kind === 'created') await inside.configurations.remove(caller, componentId, configurationId)
        else if (kind === 'deleted') await inside.configurations.restore(caller, componentId, configurationId)
        else
          await inside.versions.rollBack(caller, componentId, configurationId, version ?? 0, {
            changeDescription: `Proposal ${id} undone`,
          })
      }
      await publish('proposal.undone', trx, actor, { id, branchIntoId: branch.id }, storageApplied)
      await publish('schedules.accepted', trx, actor, schedulesIn(replaced.filter(({ kind }) => kind === 'changed')))
    },
    afterRemoval: (projectId, branchId) => publish('branch.removed', projectId, branchId),
  })

  // The person who accepts a schedule starts it, too: nothing is left to be activated by hand.
  subscribe('mergeRequest.merged', async (trx, source, mergeRequestId, changes) => {
    const { projectId } = source
    const proposal = await findProposalOfRequest(trx, projectId, mergeRequestId)
    if (!proposal) return
    const place = { projectId, branchId: proposal.branchId, branchIntoId: await branches.defaultId(projectId) }
    const applied = await publish('proposal.accepted', trx, source, place)
    await setStorageApplied(trx, projectId, proposal.id, applied.flat())
    await setDue(trx, projectId, proposal.id, source.tokenId)
    await publish('schedules.accepted', trx, source, schedulesIn(changes.filter(({ kind }) => kind !== 'deleted')))
  })

  /** With what the token has read in data before. */
  async function marked({ projectId, token }: KnownProposal['proposal'], found: readonly Difference[]): Promise<Difference[]> {
    const texts = found.map(({ after }) => textOf(after))
    const copied = await agentGuards.copiedIn(projectId, token.id, texts)
    return found.map((one, at) => ({ ...one, copiedFrom: copied[at]?.slice(0, 200) ?? null }))
  }

  async function review(actor: Actor, { proposal, state }: KnownProposal): Promise<Review> {
    const runs = (await proposals.runsOf({ proposal, state, request: undefined })).map((run) => ({
      ...{ componentId: run.componentId, configurationId: run.configurationId, jobId: run.jobId },
      problem: run.problem ?? (ENDED.has(state) && !run.isWanted ? 'Accepted without running it.' : null),
    }))
    const nothing = {
      runs,
      changes: [],
      storageChanges: [],
      ...{ tables: [], schedules: [], hosts: [], runBy: [], destinations: [], costs: [] },
    }
    if (ENDED.has(state)) return nothing
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
      const found = differencesOf(kind === 'created' ? undefined : theirs, kind === 'deleted' ? undefined : ours)
      const differences = await marked(proposal, found)
      shown.push({ componentId, configurationId, name: ours.name, kind, isConflict, differences })
    }
    const links = await configurations.links(projectId, branchId)
    const names = new Map((await configurations.namesOfBranch(projectId, branchId)).map((one) => [keyOf(one), one.name]))
    const named = (one: Place) => ({
      ...{ componentId: one.componentId, configurationId: one.configurationId, name: names.get(keyOf(one)) ?? '' },
    })
    const changed = new Set(changes.map(keyOf))
    const writes = new Set(links.filter((one) => changed.has(keyOf(one))).flatMap((one) => one.writes))
    const runBy = links.filter(({ runs }) => runs.some((task) => changed.has(keyOf(task))))
    const destinations = [...changes, ...links.filter(({ reads }) => reads.some((table) => writes.has(table)))].filter(
      ({ componentId }) => isDestination(componentId),
    )
    const costs: Review['costs'][number][] = []
    for (const { componentId, configurationId } of changes) {
      const { ms, runs } = await usualDuration({ projectId, branchId: branchIntoId, componentId, configurationId })
      if (runs > 0) costs.push({ componentId, configurationId, runs, usualMs: ms })
    }
    const secrets = await encryption.secretsOf(projectId)
    // An address can be a secret, as that of a webhook: its host is shown. Opened as in production, where it will run.
    const opened = (which: 'before' | 'after') =>
      sides.flatMap(({ [which]: side }, at) => {
        const { componentId, configurationId } = changes[at]! // one for each side
        const open = (text: string) => withSecrets(() => secrets.decrypt(text, { componentId, configurationId }).text, text)
        return side ? [side.configuration, ...side.rows.map((row) => row.configuration)].map(open) : []
      })
    const known = await agentGuards.hostsIn([...(await configurations.contents(projectId, branchIntoId)), ...opened('before')])
    const hosts = await agentGuards.hostsIn(opened('after'))
    const storageChanges: Review['storageChanges'][number][] = []
    for (const { kind, tableId, name, before, after, isConflict } of (
      await publish('proposal.changesListed', { projectId, branchId, branchIntoId })
    ).flat()) {
      const differences = await marked(proposal, differencesBetween(before, after))
      storageChanges.push({ kind, tableId, name, change: before ? 'changed' : 'created', isConflict, differences })
    }
    return {
      runs,
      changes: shown,
      storageChanges,
      tables: [...new Set([...sides.flatMap(({ after }) => tablesOf(after)), ...storageChanges.map(({ tableId }) => tableId)])],
      schedules: changes.flatMap(({ componentId, configurationId }, at) =>
        isScheduler(componentId) ? [{ configurationId, cronTab: cronOf(sides[at]!.after) }] : [],
      ),
      runBy: unique(runBy).map(named),
      destinations: unique(destinations).map(named),
      costs,
      hosts: [...hosts].sort().map((host) => ({ host, isNew: !known.has(host) })),
    }
  }

  const startRuns = createStartRuns({
    ...{ db, inTransaction, findActor: tokens.findActor },
    jobs: {
      prepare: async (actor, target) => {
        const branch = { id: await branches.defaultId(actor.projectId), isDefault: true }
        return jobs.prepareLater(actor, { ...target, mode: 'run' }, { branch, baseUrl: jobs.baseUrl() })
      },
      wake: jobs.wake,
    },
    onError: (err, { projectId, id }) =>
      log.error({ err, projectId, run: id }, 'a job of an accepted proposal could not be started; it is tried again'),
  })
  const dueRuns = repeat({
    everyMs: DUE_RUNS_MS,
    work: startRuns,
    onError: (err) => log.error({ err }, 'jobs of accepted proposals could not be started; it is tried again'),
  })
  // After the commit of a merge, among others.
  subscribe('branch.removed', async () => void dueRuns.tick())
  const sweeper = repeat({
    everyMs: SWEEP_MS,
    work: proposals.sweep,
    onError: (err) => log.error({ err }, 'expired proposals could not be removed; it is tried again'),
  })

  return defineModule({
    name: 'proposals',
    background: [
      { role: 'worker', start: sweeper.start, stop: sweeper.stop },
      { role: 'worker', isOffInCopies: true, start: dueRuns.start, stop: dueRuns.stop },
    ],
    sweep: proposals.sweep,
    routes: [proposalsRoutes({ proposals, review })],
    /** For the HTTP kernel. */
    kernel: { branchOf: proposals.branchOf, open: proposals.open },
    /** Rejects for proposals that the caller may not see. */
    get: proposals.get,
  })
}

/** With ciphers of another stack or component a configuration cannot run; it stays as it is. */
function withSecrets(open: () => string, text: string): string {
  try {
    return open()
  } catch (error) {
    if (error instanceof PlatformError && error.kind === 'invalid') return text
    throw error
  }
}

/** A text without its quotes; the JSON of anything else. */
function textOf(value: string | null): string {
  if (value === null) return ''
  return value.startsWith('"') && value.endsWith('"') ? String(JSON.parse(value)) : value
}

function cronOf({ configuration }: Side): string {
  const { schedule } = JSON.parse(configuration) as { schedule?: { cronTab?: unknown } } // anything that was saved
  return String(schedule?.cronTab ?? '')
}
