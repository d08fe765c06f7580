// Rules of templates: what one would make, making it, and keeping track of it (spec platform 6.8).
//  (1) using, upgrading and deleting are one transaction each: everything that belongs to an instance, or nothing;
//  (2) what was filled in is kept as a cipher, and secrets go into encrypted members only (manifest.ts).

import { randomUUID } from 'node:crypto'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Actor } from '../../../model/actor.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { Catalogue, ListedRepository, TemplateVersion } from './catalogue.ts'
import { type Change, differencesOf, withoutSecrets } from './difference.ts'
import { type Check, checkSteps, type FilledStep } from './inputs.ts'
import { chosenConfigurations, type RenderedConfiguration, render } from './render.ts'
import type { InstanceKey, InstanceRecord, MadeConfiguration, TemplatesStore } from './templates.store.ts'

export interface TemplateCaller {
  readonly actor: Actor
  readonly branch: { readonly id: number; readonly isDefault: boolean }
  readonly origin: Origin
}

/** A configuration with its rows, as it is stored. */
export interface StoredWhole {
  readonly name: string
  readonly description?: string
  readonly configuration: string
  readonly rows: readonly {
    readonly id: string
    readonly name: string
    readonly configuration: string
    readonly isDisabled: boolean
  }[]
}

export interface ContentOf {
  readonly name: string
  readonly description: string
  readonly isDisabled?: boolean
  /** JSON text. */
  readonly configuration: string
  readonly changeDescription: string
}

/** Changes of a project that are one: made in the transaction of the template. */
export interface ProjectWriter {
  find(componentId: string, configurationId: string): Promise<StoredWhole | undefined>
  create(componentId: string, configurationId: string, content: ContentOf): Promise<void>
  update(componentId: string, configurationId: string, content: ContentOf): Promise<void>
  remove(componentId: string, configurationId: string): Promise<void>
  createRow(componentId: string, configurationId: string, rowId: string, content: ContentOf): Promise<void>
  updateRow(componentId: string, configurationId: string, rowId: string, content: ContentOf): Promise<void>
  removeRow(componentId: string, configurationId: string, rowId: string): Promise<void>
  activateSchedule(configurationId: string): Promise<void>
  removeSchedule(configurationId: string): Promise<void>
}

export interface TemplatesDeps {
  readonly store: TemplatesStore
  readonly catalogue: Catalogue
  readonly clock: Clock
  readonly newId: () => string
  readonly recordEvent: RecordEvent
  readonly stackUrl: () => string
  /** The component's own id; refuses one that is not there or that the token may not use. */
  readonly usableComponent: (actor: Actor, componentId: string) => string
  readonly mayUseComponent: (actor: Actor, componentId: string) => boolean
  readonly isScheduler: (componentId: string) => boolean
  readonly encrypt: (projectId: number, text: string) => Promise<string>
  readonly decrypt: (projectId: number, cipher: string) => Promise<string>
  /** Reads what is there, outside of a transaction. */
  readonly find: (caller: TemplateCaller, componentId: string, configurationId: string) => Promise<StoredWhole | undefined>
  readonly change: <T>(caller: TemplateCaller, work: (project: ProjectWriter, trx: Trx) => Promise<T>) => Promise<T>
}

export interface TemplateRef {
  readonly repository: string
  readonly templateId: string
  readonly version: string
}

export interface Task {
  readonly id: string
  readonly type: string
  readonly createdAt: string
  readonly finishedAt: string
  readonly outputs: Readonly<Record<string, unknown>>
}

export interface PlannedChange {
  readonly action: 'create' | 'update' | 'delete' | 'none'
  readonly componentId: string
  readonly configurationId: string
  readonly name: string
  readonly changes: readonly Change[]
}

export type Templates = ReturnType<typeof createTemplates>

/** A placeholder of ids that are assigned when the template is used. */
const PREVIEW_ID = 'preview'

export function createTemplates(deps: TemplatesDeps) {
  const { store, catalogue, clock, newId, recordEvent } = deps

  const versionOf = ({ repository, templateId, version }: TemplateRef): Promise<TemplateVersion> =>
    catalogue.version(repository, templateId, version)

  async function refreshRepository(caller: TemplateCaller, name: string): Promise<ListedRepository> {
    const refreshed = await catalogue.refresh(name)
    const { commit, problem } = refreshed
    const event = eventOf('templates.repositoryRefreshed', { commit, problem }, { objectId: refreshed.head.name })
    return deps.change(caller, async (_, trx) => {
      await recordEvent(trx, caller.actor, event, caller.origin)
      return refreshed
    })
  }

  const validate = async (ref: TemplateRef, steps: readonly FilledStep[]): Promise<Check> =>
    checkSteps((await versionOf(ref)).manifest, steps)

  /** What the template makes of valid inputs; existing ids stay, the others are new. */
  function plan(
    found: TemplateVersion,
    caller: TemplateCaller,
    steps: readonly FilledStep[],
    instance: { readonly id: string; readonly name: string },
    known: ReadonlyMap<string, string>,
  ): readonly RenderedConfiguration[] {
    const check = checkSteps(found.manifest, steps)
    if (!check.valid)
      throw new PlatformError(
        'templates.invalidInputs',
        { problems: problemsOf(check) },
        { params: { stepGroups: check.stepGroups } },
      )
    const chosen = chosenConfigurations(found.manifest, check.answers)
    const configurationIds = new Map(chosen.map(({ id }) => [id, known.get(id) ?? newId()]))
    const { answers } = check
    const rendered = render(found.manifest, { answers, instance, stackUrl: deps.stackUrl(), configurationIds })
    for (const { componentId } of rendered) deps.usableComponent(caller.actor, componentId)
    return rendered
  }

  async function preview(caller: TemplateCaller, ref: TemplateRef, name: string, steps: readonly FilledStep[]): Promise<Task> {
    const found = await versionOf(ref)
    const rendered = plan(found, caller, steps, { id: PREVIEW_ID, name }, new Map())
    const configurations = rendered.map(({ configurationId: _, ...one }) => withoutSecrets(one))
    return deps.change(caller, (_, trx) => finish(trx, caller, 'preview', { configurations }))
  }

  async function use(caller: TemplateCaller, ref: TemplateRef, name: string, steps: readonly FilledStep[]): Promise<Task> {
    const found = await versionOf(ref)
    const instanceId = newId().toLowerCase()
    const rendered = plan(found, caller, steps, { id: instanceId, name }, new Map())
    const now = { at: clock.now().getTime(), tokenId: caller.actor.tokenId }
    const record: InstanceRecord = {
      ...keyOf(caller, instanceId),
      name,
      repository: found.repository.head.name,
      templateId: found.template.id,
      version: found.version,
      steps: await deps.encrypt(caller.actor.projectId, JSON.stringify(steps)),
      configurations: rendered.map(madeOf),
      mainConfiguration: found.manifest.mainConfiguration ?? null,
      created: now,
      updated: now,
    }
    return deps.change(caller, async (project, trx) => {
      const description = `Created by template ${record.templateId} ${record.version}`
      for (const one of rendered) await create(project, one, description)
      for (const one of rendered) await activate(project, caller, one)
      await store.save(trx, record)
      await recordEvent(trx, caller.actor, eventFor('templates.used', record), caller.origin)
      return finish(trx, caller, 'use', outputsOf(record))
    })
  }

  async function create(project: ProjectWriter, one: RenderedConfiguration, changeDescription: string): Promise<void> {
    await project.create(one.componentId, one.configurationId, contentOf(one, changeDescription))
    for (const row of one.rows)
      await project.createRow(one.componentId, one.configurationId, row.id, contentOf(row, changeDescription))
  }

  /** After everything is there: a schedule refuses a target that is not. Schedules work in the default branch only. */
  async function activate(project: ProjectWriter, { branch }: TemplateCaller, one: RenderedConfiguration): Promise<void> {
    if (branch.isDefault && deps.isScheduler(one.componentId)) await project.activateSchedule(one.configurationId)
  }

  async function instance(caller: TemplateCaller, instanceId: string): Promise<InstanceRecord> {
    const found = await store.find(keyOf(caller, instanceId))
    if (!found) throw new PlatformError('templates.instanceNotFound', { id: instanceId.slice(0, 100) })
    if (!mayUse(caller, found)) throw new PlatformError('accessDenied')
    return found
  }

  /** An instance is its configurations: who may not use one of their components does not see it. */
  const mayUse = ({ actor }: TemplateCaller, { configurations }: InstanceRecord): boolean =>
    configurations.every(({ componentId }) => deps.mayUseComponent(actor, componentId))

  async function rename(caller: TemplateCaller, instanceId: string, name: string): Promise<InstanceRecord> {
    const before = await instance(caller, instanceId)
    const after = { ...before, name, updated: { at: clock.now().getTime(), tokenId: caller.actor.tokenId } }
    return deps.change(caller, async (_, trx) => {
      await store.save(trx, after)
      await recordEvent(trx, caller.actor, eventFor('templates.instanceChanged', after), caller.origin)
      return after
    })
  }

  /** What was filled in, secrets left out, for a form that is filled in again. */
  async function filledSteps(record: InstanceRecord, found: TemplateVersion): Promise<readonly FilledStep[]> {
    const steps = readStored<FilledStep[]>(await deps.decrypt(record.projectId, record.steps))
    const inputs = found.manifest.stepGroups.flatMap((group) => group.steps.flatMap((step) => step.inputs))
    const shown = new Set(inputs.flatMap(({ id, kind }) => (kind === 'hidden' ? [] : [id])))
    return steps.map((step) => ({ ...step, inputs: step.inputs.filter(({ id }) => shown.has(id)) }))
  }

  async function upgradeInputs(caller: TemplateCaller, instanceId: string, version: string) {
    const record = await instance(caller, instanceId)
    const found = await versionOf({ ...record, version })
    return { found, steps: await filledSteps(record, found) }
  }

  /** Inputs that are not sent keep the value they had; a secret does not have to be typed again. */
  async function upgradePlan(caller: TemplateCaller, instanceId: string, version: string, given: readonly FilledStep[]) {
    const record = await instance(caller, instanceId)
    const found = await versionOf({ ...record, version })
    const before = readStored<FilledStep[]>(await deps.decrypt(record.projectId, record.steps))
    const steps = given.map(({ id, inputs }) => {
      const known = new Set(inputs.map((input) => input.id))
      const asked = inputIdsOf(found, id)
      const kept = before.find((step) => step.id === id)?.inputs.filter((one) => !known.has(one.id) && asked.has(one.id)) ?? []
      return { id, inputs: [...inputs, ...kept] }
    })
    const ids = new Map(record.configurations.map((one) => [one.id, one.configurationId]))
    const rendered = plan(found, caller, steps, { id: record.instanceId, name: record.name }, ids)
    const kept = new Set(rendered.map(({ configurationId }) => configurationId))
    const surplus = record.configurations.filter(({ configurationId }) => !kept.has(configurationId))
    return { record, found, steps, rendered, surplus }
  }

  async function upgradePreview(
    caller: TemplateCaller,
    instanceId: string,
    version: string,
    given: readonly FilledStep[],
  ): Promise<Task> {
    const { rendered, surplus } = await upgradePlan(caller, instanceId, version, given)
    const planned: PlannedChange[] = []
    for (const one of rendered) {
      const stored = await deps.find(caller, one.componentId, one.configurationId)
      const changes = differencesOf(stored ? wholeOf(stored) : {}, wholeOf(texts(one)))
      const { componentId, configurationId, name } = one
      const action = stored ? (changes.length > 0 ? 'update' : 'none') : 'create'
      planned.push({ action, componentId, configurationId, name, changes })
    }
    for (const { componentId, configurationId, name } of surplus)
      planned.push({ action: 'delete', componentId, configurationId, name, changes: [] })
    return deps.change(caller, (_, trx) => finish(trx, caller, 'upgrade-preview', { instanceId, changes: planned }))
  }

  async function upgrade(
    caller: TemplateCaller,
    instanceId: string,
    version: string,
    given: readonly FilledStep[],
  ): Promise<Task> {
    const { record, found, steps, rendered, surplus } = await upgradePlan(caller, instanceId, version, given)
    const after: InstanceRecord = {
      ...record,
      version: found.version,
      steps: await deps.encrypt(record.projectId, JSON.stringify(steps)),
      configurations: rendered.map(madeOf),
      mainConfiguration: found.manifest.mainConfiguration ?? null,
      updated: { at: clock.now().getTime(), tokenId: caller.actor.tokenId },
    }
    const description = `Upgraded to template ${after.templateId} ${after.version}`
    return deps.change(caller, async (project, trx) => {
      for (const one of rendered) await bringUpToDate(project, one, description)
      for (const one of rendered) await activate(project, caller, one)
      for (const one of surplus) await removeOne(project, caller, one)
      await store.save(trx, after)
      await recordEvent(trx, caller.actor, eventFor('templates.upgraded', after), caller.origin)
      return finish(trx, caller, 'upgrade', outputsOf(after))
    })
  }

  async function bringUpToDate(project: ProjectWriter, one: RenderedConfiguration, description: string): Promise<void> {
    const { componentId, configurationId } = one
    const stored = await project.find(componentId, configurationId)
    if (!stored) return create(project, one, description)
    await project.update(componentId, configurationId, contentOf(one, description))
    const there = new Set(stored.rows.map(({ id }) => id))
    const wanted = new Set(one.rows.map(({ id }) => id))
    for (const row of one.rows) {
      const write = there.has(row.id) ? project.updateRow : project.createRow
      await write(componentId, configurationId, row.id, contentOf(row, description))
    }
    for (const id of there) if (!wanted.has(id)) await project.removeRow(componentId, configurationId, id)
  }

  async function removeOne(project: ProjectWriter, { branch }: TemplateCaller, one: MadeConfiguration): Promise<void> {
    if (branch.isDefault && deps.isScheduler(one.componentId)) await project.removeSchedule(one.configurationId)
    if (await project.find(one.componentId, one.configurationId)) await project.remove(one.componentId, one.configurationId)
  }

  /** Configurations go to the trash, from which they can be restored. */
  async function remove(caller: TemplateCaller, instanceId: string): Promise<Task> {
    const record = await instance(caller, instanceId)
    return deps.change(caller, async (project, trx) => {
      for (const one of record.configurations.toReversed()) await removeOne(project, caller, one)
      await store.remove(trx, record)
      await recordEvent(trx, caller.actor, eventFor('templates.instanceDeleted', record), caller.origin)
      return finish(trx, caller, 'delete', { instanceId })
    })
  }

  /** The work is done when its task is written: both are one transaction. */
  async function finish(trx: Trx, { actor }: TemplateCaller, type: string, outputs: Task['outputs']): Promise<Task> {
    const now = clock.now()
    const task = { id: randomUUID(), type, createdAt: now.toISOString(), finishedAt: now.toISOString(), outputs }
    await store.saveTask(trx, actor.projectId, task.id, task, now.getTime())
    return task
  }

  async function task(actor: Actor, id: string): Promise<Task> {
    const found = await store.findTask<Task>(actor.projectId, id)
    if (!found) throw new PlatformError('templates.taskNotFound', { id: id.slice(0, 100) })
    return found
  }

  return {
    catalogue,
    validate,
    preview,
    use,
    refreshRepository,
    instance,
    instances: async (caller: TemplateCaller) =>
      (await store.list(caller.actor.projectId, caller.branch.id)).filter((record) => mayUse(caller, record)),
    rename,
    upgradeInputs,
    upgradePreview,
    upgrade,
    remove,
    task,
  }
}

const keyOf = ({ actor, branch }: TemplateCaller, instanceId: string): InstanceKey => ({
  projectId: actor.projectId,
  branchId: branch.id,
  instanceId,
})

const inputIdsOf = ({ manifest }: TemplateVersion, stepId: string): ReadonlySet<string> =>
  new Set(
    manifest.stepGroups.flatMap(({ steps }) =>
      steps.filter(({ id }) => id === stepId).flatMap(({ inputs }) => inputs.map(({ id }) => id)),
    ),
  )

const madeOf = ({ id, componentId, configurationId, name }: RenderedConfiguration): MadeConfiguration => ({
  id,
  componentId,
  configurationId,
  name,
})

const contentOf = (
  one: Pick<RenderedConfiguration, 'name' | 'description' | 'configuration'> & { readonly isDisabled?: boolean },
  changeDescription: string,
): ContentOf => ({
  name: one.name,
  description: one.description,
  ...(one.isDisabled !== undefined && { isDisabled: one.isDisabled }),
  configuration: JSON.stringify(one.configuration),
  changeDescription,
})

const texts = (one: RenderedConfiguration): StoredWhole => ({
  name: one.name,
  configuration: JSON.stringify(one.configuration),
  rows: one.rows.map((row) => ({ ...row, configuration: JSON.stringify(row.configuration) })),
})

/** For comparing: a configuration with its rows by id. */
const wholeOf = ({ name, configuration, rows }: StoredWhole): object => ({
  name,
  ...(JSON.parse(configuration) as object), // configurations are objects
  ...(rows.length > 0 && {
    rows: Object.fromEntries(
      rows.map((row) => [row.id, { name: row.name, isDisabled: row.isDisabled, ...(JSON.parse(row.configuration) as object) }]),
    ),
  }),
})

function outputsOf({ instanceId, mainConfiguration, configurations }: InstanceRecord): Task['outputs'] {
  const main = configurations.find(({ id }) => id === mainConfiguration) ?? configurations[0]
  return { instanceId, configId: main?.configurationId ?? null, configurations }
}

const problemsOf = ({ stepGroups }: Check): string =>
  stepGroups
    .flatMap((group) => [
      ...(group.error === null ? [] : [`${group.id}: ${group.error}`]),
      ...group.steps.flatMap((step) =>
        step.inputs.flatMap((input) => (input.error === null ? [] : [`${step.id}.${input.id}: ${input.error}`])),
      ),
    ])
    .slice(0, 20)
    .join(' ')

const eventFor = (
  name: 'templates.used' | 'templates.upgraded' | 'templates.instanceChanged' | 'templates.instanceDeleted',
  { instanceId, name: objectName, repository, templateId, version, branchId }: InstanceRecord,
) => eventOf(name, { repository, template: templateId, version }, { objectId: instanceId, objectName, branchId })
