// A folder into a project, through the public API alone. Nothing starts by itself: schedules are not activated.

import type { Client, StorageJob } from '../client.ts'
import {
  count,
  type Metadata,
  type MovedBranch,
  type MovedFile,
  type ProjectFolder,
  type Report,
} from '../configuration/project-folder.ts'
import { UserError } from '../output.ts'
import { uploadFile, uploadSlices } from '../storage/file-upload.ts'
import { importConfigurations } from './import-configurations.ts'
import { importServices } from './import-services.ts'
import { importTables, SILENT } from './import-tables.ts'
import { openTarget, type Target, targetInBranch } from './import-target.ts'
import { inBranch } from './project-export.ts'

export async function importProject(
  client: Client,
  folder: ProjectFolder,
  report: Report,
  say: (text: string) => void,
): Promise<void> {
  if (!(await folder.read('project.json')))
    throw new UserError(`${folder.root} is not the folder of a project: it has no project.json.`)
  const target = await openTarget(client, folder, report, say)
  await importBranch(target)
  for (const id of await folder.list('branches')) {
    const inner = folder.inner('branches', id)
    const branch = await inner.read<MovedBranch>('branch.json')
    if (branch) await importDevelopmentBranch(target, inner, branch)
  }
  await importServices(target)
}

async function importBranch(target: Target): Promise<void> {
  await importTables(target)
  await importConfigurations(target)
  await importFiles(target)
  await importMetadata(target)
}

/** Made from the default branch as it is here, then changed into what it was. */
async function importDevelopmentBranch(target: Target, folder: ProjectFolder, branch: MovedBranch): Promise<void> {
  const { client, report, once, isDone } = target
  const { name, description } = branch
  const what = `branch ${name}`
  const find = async (): Promise<MovedBranch | undefined> =>
    (await client.request<MovedBranch[]>('GET', '/v2/storage/dev-branches')).find((one) => one.name === name)
  const job = async (method: string, path: string, json?: object) =>
    client.waitForJob(await client.request<StorageJob>(method, path, json && { json }))
  await once(
    what,
    async () => {
      await job('POST', '/v2/storage/dev-branches', { name, description })
      count(report, 'branches')
    },
    {
      isThere: async () => (await find()) !== undefined,
      remove: async () => job('DELETE', `/v2/storage/dev-branches/${(await find())?.id}`),
    },
  )
  const made = isDone(what) ? await find() : undefined
  if (made) await importBranch(targetInBranch(target, inBranch(client, made.id), folder, made))
}

async function importMetadata({ client, folder, once }: Target): Promise<void> {
  const items = (await folder.read<Metadata[]>('metadata.json')) ?? []
  if (items.length > 0)
    await once('metadata', async () => {
      const metadata = items.map(({ key, value }) => ({ key, value }))
      await client.request('POST', '/v2/storage/branch/default/metadata', { json: { metadata } })
    })
}

async function importFiles({ client, folder, report, once }: Target): Promise<void> {
  for (const entry of await folder.list('files')) {
    if (!entry.endsWith('.json')) continue
    const file = await folder.read<MovedFile>('files', entry)
    if (!file) continue
    const { id, name, tags, isPermanent, slices } = file
    const options = { ...SILENT, name, tags, isPermanent }
    await once(`file ${id} "${name}"`, async () => {
      const paths = slices?.map((slice) => folder.pathOf('files', `${id}.slices`, slice))
      if (paths) await uploadSlices(client, paths, options)
      else await uploadFile(client, folder.pathOf('files', String(id)), options)
      count(report, 'files')
    })
  }
}
