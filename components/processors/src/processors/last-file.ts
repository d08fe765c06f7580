import { rename } from 'node:fs/promises'
import { type Folder, type Item, listItems, moveTo, outputPath, passOnAll } from '../folder.ts'
import { readParameters, text } from '../parameters.ts'

/** Of the files with a tag the newest stays, under the name of the tag; the others go. */
export async function lastFile(folder: Folder): Promise<void> {
  const { tag } = readParameters(folder.parameters, { tag: text() })
  await passOnAll(folder, 'tables')
  const tagged = (await listItems(folder, 'files')).filter(
    ({ manifest }) => Array.isArray(manifest?.tags) && manifest.tags.includes(tag),
  )
  const newest = tagged.sort((a, b) => createdOf(a) - createdOf(b) || idOf(a) - idOf(b)).at(-1)
  if (!newest) return
  await moveTo(newest.path, outputPath(folder, 'files', tag))
  await rename(`${newest.path}.manifest`, outputPath(folder, 'files', `${tag}.manifest`))
}

const createdOf = ({ manifest }: Item): number => Date.parse(String(manifest?.created)) || 0
const idOf = ({ manifest }: Item): number => Number(manifest?.id) || 0
