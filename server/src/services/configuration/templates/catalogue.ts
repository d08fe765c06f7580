// All templates: the repository that is part of the stack, and those that the operator configured.

import type { TemplateFiles, TemplateFolder } from '../../../engines/template-folder/template-folder.ts'
import { PlatformError } from '../../../kit/errors.ts'
import {
  type RepositoryHead,
  readManifest,
  readRepository,
  readTemplate,
  type TemplateHead,
  type TemplateManifest,
} from './manifest.ts'
import type { TemplateSource } from './sources.ts'

export interface CatalogueDeps {
  readonly sources: readonly TemplateSource[]
  readonly log: { warn(details: object, text: string): void }
}

/** A repository as it is listed; one without a folder has a problem. */
export interface ListedRepository {
  readonly head: RepositoryHead
  readonly folder?: TemplateFolder
  readonly source: TemplateSource
  readonly commit?: string
  readonly refreshedAt?: Date
  readonly problem?: string
}

type UsableRepository = ListedRepository & { readonly folder: TemplateFolder }

export interface VersionSummary {
  readonly version: string
  readonly stable: boolean
  readonly description: string
}

export interface TemplateSummary extends TemplateHead {
  readonly id: string
  readonly components: readonly string[]
  readonly versions: readonly VersionSummary[]
  readonly defaultVersion: string
}

export interface TemplateVersion {
  readonly repository: ListedRepository
  readonly template: TemplateSummary
  readonly version: string
  readonly manifest: TemplateManifest
  readonly readme: string
}

export type Catalogue = ReturnType<typeof createCatalogue>

export function createCatalogue({ sources, log }: CatalogueDeps) {
  async function repositories(): Promise<readonly ListedRepository[]> {
    const found = await Promise.all(sources.map(lookAt))
    return found.map((one, i) =>
      found.slice(0, i).some(({ head }) => head.name === one.head.name)
        ? withoutFolder(one, `Another repository has the name "${one.head.name}" already.`)
        : one,
    )
  }

  async function lookAt(source: TemplateSource): Promise<ListedRepository> {
    const { folder, ...state } = source.state()
    const listed = { head: { name: source.name }, source, ...state }
    if (folder === undefined) return withoutFolder(listed, state.problem ?? 'It has not been fetched yet.')
    if (!(await folder.isThere())) return withoutFolder(listed, 'Its folder is not there.')
    try {
      return { ...listed, head: readRepository(await folder.repository(), 'repository.json'), folder }
    } catch (err) {
      log.warn({ err, folder: folder.path }, 'a repository of templates cannot be used')
      return withoutFolder(listed, (err as Error).message)
    }
  }

  const listed = async (name: string): Promise<ListedRepository> => {
    const found = (await repositories()).find(({ head }) => head.name === name)
    if (!found) throw new PlatformError('templates.repositoryNotFound', { name: name.slice(0, 100) })
    return found
  }

  async function repository(name: string): Promise<UsableRepository> {
    const { folder, ...found } = await listed(name)
    if (!folder) throw new PlatformError('templates.repositoryUnusable', { name, reason: found.problem ?? '' })
    return { ...found, folder }
  }

  /** Fetches what is new in it; `problem` has the reason of a failure. */
  async function refresh(name: string): Promise<ListedRepository> {
    const { source } = await listed(name)
    await source.refresh()
    return (await repositories()).find((one) => one.source === source)! // it was just found
  }

  async function list(
    name: string,
  ): Promise<{ readonly repository: ListedRepository; readonly templates: readonly TemplateSummary[] }> {
    const found = await repository(name)
    const { folder } = found
    const templates: TemplateSummary[] = []
    for (const files of await folder.list()) {
      try {
        templates.push(await summaryOf(folder, files))
      } catch (err) {
        log.warn({ err, template: files.id }, 'a template cannot be used and is left out of the list')
      }
    }
    return { repository: found, templates }
  }

  async function summaryOf(folder: TemplateFolder, { id, text, versions: names }: TemplateFiles): Promise<TemplateSummary> {
    const head = readTemplate(text, `${id}/template.json`)
    const manifests = await Promise.all(names.map(async (name) => ({ name, manifest: await manifestOf(folder, id, name) })))
    const versions = manifests.map(({ name, manifest }) => ({
      version: name,
      stable: manifest.stable ?? true,
      description: manifest.description,
    }))
    const newest = versions.findLast(({ stable }) => stable) ?? versions.at(-1)
    if (!newest) throw new PlatformError('templates.broken', { file: `${id}/template.json`, reason: 'it has no version' })
    const defaultVersion = head.defaultVersion ?? newest.version
    const { manifest } = manifests.find(({ name }) => name === defaultVersion) ?? manifests[0]!
    const components = [...new Set(manifest.configurations.map(({ componentId }) => componentId))]
    return { ...head, id, components, versions, defaultVersion }
  }

  async function manifestOf(folder: TemplateFolder, id: string, version: string): Promise<TemplateManifest> {
    const files = await folder.version(id, version)
    if (!files) throw new PlatformError('templates.versionNotFound', { id, version: version.slice(0, 100) })
    return readManifest(files.text, `${id}/${version}/manifest.json`)
  }

  async function template(
    name: string,
    id: string,
  ): Promise<{ readonly repository: UsableRepository; readonly template: TemplateSummary }> {
    const found = await repository(name)
    const files = await found.folder.find(id)
    if (!files) throw new PlatformError('templates.templateNotFound', { id: id.slice(0, 100), repository: name })
    return { repository: found, template: await summaryOf(found.folder, files) }
  }

  /** `default` is the version that the template recommends. */
  async function version(name: string, id: string, wanted: string): Promise<TemplateVersion> {
    const { repository: found, template: summary } = await template(name, id)
    const chosen = wanted === 'default' ? summary.defaultVersion : wanted
    const manifest = await manifestOf(found.folder, id, chosen)
    const files = await found.folder.version(id, chosen)
    return { repository: found, template: summary, version: chosen, manifest, readme: files?.readme ?? '' }
  }

  return { repositories, listed, refresh, list, template, version }
}

const withoutFolder = ({ folder: _, ...listed }: ListedRepository, problem: string): ListedRepository => ({ ...listed, problem })
