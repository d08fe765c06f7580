// The life of a project. Paused, it is read-only and nothing in it starts; deleted, it is inaccessible, and can be restored until
// its grace time is over. Then everything of it goes, the key of its secrets included.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { eventOf, NO_ORIGIN, type RecordEvent } from '../../../model/event.ts'
import type { EventName } from '../../../model/event-definitions.ts'
import type { By } from '../../../model/members.ts'
import type { createTokensStore, Project } from './tokens.store.ts'

export interface ProjectsDeps {
  readonly store: ReturnType<typeof createTokensStore>
  /** One transaction; afterwards no cache keeps an old response. */
  readonly change: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
}

export type Projects = ReturnType<typeof createProjects>

const DAY_MS = 86_400_000
export const GRACE_DAYS = 7
/** Credentials for files outlive the project by hours; nothing may be written any more when its bytes go. */
const SHORTEST_GRACE_DAYS = 2
const LONGEST_GRACE_DAYS = 90

export function createProjects({ store, change, clock, recordEvent }: ProjectsDeps) {
  async function get(id: number): Promise<Project> {
    const project = await store.findProject(id)
    if (!project) throw notFound(id)
    return project
  }

  async function getLiving(id: number): Promise<Project> {
    const project = await get(id)
    if (project.deleteAfter) throw notFound(id)
    return project
  }

  async function save(project: Project, name: ProjectEvent, by: By, reason?: string): Promise<Project> {
    const [master] = await store.listMasters(project.id)
    if (!master) throw notFound(project.id)
    const source = by.source ?? { projectId: project.id, tokenId: master.id, tokenDescription: master.description }
    await change(async (trx) => {
      await store.updateProject(trx, project)
      const event = eventOf(name, { reason }, { objectId: String(project.id), objectName: project.name })
      await recordEvent(trx, source, event, by.origin ?? NO_ORIGIN)
    })
    return project
  }

  async function rename(id: number, given: string, by: By): Promise<Project> {
    const name = given.trim()
    if (name === '' || name.length > 255) throw invalid('name', 'A project needs a name of 1 to 255 characters.')
    return save({ ...(await getLiving(id)), name }, 'storage.projectRenamed', by)
  }

  async function pause(id: number, reason: string, by: By): Promise<Project> {
    const pausedReason = reason.trim().slice(0, 500) || 'no reason was given'
    return save({ ...(await getLiving(id)), pausedReason }, 'storage.projectPaused', by, pausedReason)
  }

  const resume = async (id: number, by: By): Promise<Project> =>
    save({ ...(await getLiving(id)), pausedReason: undefined }, 'storage.projectResumed', by)

  async function remove(id: number, days: number, by: By): Promise<Project> {
    if (!(days >= SHORTEST_GRACE_DAYS && days <= LONGEST_GRACE_DAYS))
      throw invalid('days', `The grace time is ${SHORTEST_GRACE_DAYS} to ${LONGEST_GRACE_DAYS} days.`)
    const deleteAfter = new Date(clock.now().getTime() + days * DAY_MS)
    return save({ ...(await getLiving(id)), deleteAfter }, 'storage.projectDeleted', by)
  }

  async function restore(id: number, by: By): Promise<Project> {
    const project = await get(id)
    if (!project.deleteAfter) throw invalid('id', `Project ${id} is not deleted.`)
    return save({ ...project, deleteAfter: undefined }, 'storage.projectRestored', by)
  }

  async function setFeature(id: number, feature: string, isOn: boolean, by: By): Promise<Project> {
    const project = await getLiving(id)
    const others = project.features.filter((one) => one !== feature)
    return save({ ...project, features: isOn ? [...others, feature] : others }, 'storage.projectFeaturesChanged', by)
  }

  const list = async (): Promise<Project[]> => (await store.listProjects()).filter(({ deleteAfter }) => !deleteAfter)
  const listDeleted = async (): Promise<Project[]> => (await store.listProjects()).filter(({ deleteAfter }) => deleteAfter)

  return {
    get: getLiving,
    rename,
    pause,
    resume,
    remove,
    restore,
    setFeature,
    list,
    listDeleted,
    /** In which nothing starts. */
    listStopped: async (): Promise<number[]> =>
      (await store.listProjects()).filter((one) => one.pausedReason !== undefined || one.deleteAfter).map(({ id }) => id),
    /** Whose grace time is over. */
    listPurgeable: async (): Promise<Project[]> => (await listDeleted()).filter(({ deleteAfter }) => deleteAfter! <= clock.now()),
    forget: (work: (trx: Trx) => Promise<void>) => change(work),
  }
}

type ProjectEvent = Extract<
  EventName,
  | 'storage.projectRenamed'
  | 'storage.projectPaused'
  | 'storage.projectResumed'
  | 'storage.projectDeleted'
  | 'storage.projectRestored'
  | 'storage.projectFeaturesChanged'
>

const notFound = (id: number) => new PlatformError('notFound', { what: `Project ${id}` })
const invalid = (field: string, reason: string) => new PlatformError('people.invalid', { field, reason })
