// Which templates there are: the repository that comes with the stack, and those that whoever runs it has named.

import type { TemplateFiles, TemplateFolder } from '../../engines/template-folder/template-folder.ts'
import { PlatformError } from '../../kit/errors.ts'
import {
  type RepositoryHead,
  readManifest,
  readRepository,
  readTemplate,
  type TemplateHead,
  type TemplateManifest,
} from './manifest.ts'

export interface CatalogueDeps {
  readonly folders: readonly TemplateFolder[]
  readonly log: { warn(details: object, text: string): void }
}

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
  readonly repository: RepositoryHead
  readonly template: TemplateSummary
  readonly version: string
  readonly manifest: TemplateManifest
  readonly readme: string
}

export type Catalogue = ReturnType<typeof createCatalogue>

export function createCatalogue({ folders, log }: CatalogueDeps) {
  async function repositories(): Promise<readonly { readonly head: RepositoryHead; readonly folder: TemplateFolder }[]> {
    const found = await Promise.all(
      folders.map(async (folder) => {
        try {
          return [{ head: readRepository(await folder.repository(), `${folder.path}/repository.json`), folder }]
        } catch (err) {
          log.warn({ err, folder: folder.path }, 'a folder of templates cannot be used and is left out')
          return []
        }
      }),
    )
    return found.flat()
  }

  async function repository(name: string) {
    const found = (await repositories()).find(({ head }) => head.name === name)
    if (!found) throw new PlatformError('templates.repositoryNotFound', { name: name.slice(0, 100) })
    return found
  }

  async function list(name: string): Promise<{ readonly head: RepositoryHead; readonly templates: readonly TemplateSummary[] }> {
    const { head, folder } = await repository(name)
    const templates: TemplateSummary[] = []
    for (const files of await folder.list()) {
      try {
        templates.push(await summaryOf(folder, files))
      } catch (err) {
        log.warn({ err, template: files.id }, 'a template cannot be used and is left out of the list')
      }
    }
    return { head, templates }
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
  ): Promise<{ readonly head: RepositoryHead; readonly template: TemplateSummary }> {
    const { head, folder } = await repository(name)
    const files = await folder.find(id)
    if (!files) throw new PlatformError('templates.templateNotFound', { id: id.slice(0, 100), repository: name })
    return { head, template: await summaryOf(folder, files) }
  }

  /** `default` is the version that the template recommends. */
  async function version(name: string, id: string, wanted: string): Promise<TemplateVersion> {
    const { head, template: summary } = await template(name, id)
    const chosen = wanted === 'default' ? summary.defaultVersion : wanted
    const { folder } = await repository(name)
    const manifest = await manifestOf(folder, id, chosen)
    const files = await folder.version(id, chosen)
    return { repository: head, template: summary, version: chosen, manifest, readme: files?.readme ?? '' }
  }

  return {
    repositories: async () => (await repositories()).map(({ head, folder }) => ({ ...head, url: folder.path })),
    repository,
    list,
    template,
    version,
  }
}
