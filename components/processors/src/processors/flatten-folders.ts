import { createHash } from 'node:crypto'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { type Folder, type Item, type Kind, listFiles, listItems, moveTo, outputPath, passOn } from '../folder.ts'
import { choice, integer, readParameters } from '../parameters.ts'

type Strategy = 'concat' | 'hash-sha256'

/** Brings files out of subfolders. Depth 0 leaves no folders; depth 1 keeps the first level, which is what slices lie in. */
export async function flattenFolders(folder: Folder): Promise<void> {
  const { starting_depth, flatten_strategy } = readParameters(folder.parameters, {
    starting_depth: integer(0),
    flatten_strategy: choice(['concat', 'hash-sha256'], 'concat'),
  })
  if (starting_depth > 1) throw new UserError('The parameter "starting_depth" must be 0 or 1.')
  for (const kind of ['tables', 'files'] as const) {
    for (const item of await listItems(folder, kind)) {
      if (item.isFolder) await flatten(folder, kind, item, starting_depth, flatten_strategy)
      else await passOn(folder, item)
    }
  }
}

async function flatten(folder: Folder, kind: Kind, item: Item, depth: number, strategy: Strategy): Promise<void> {
  for (const path of await listFiles(item.path)) {
    const inner = `${item.path}/${path}`
    if (inner.endsWith('.manifest')) continue
    const to = depth === 1 ? `${item.name}/${flatName(path, strategy)}` : flatName(`${item.name}/${path}`, strategy)
    await moveTo(inner, outputPath(folder, kind, to))
  }
}

/** `-` stands for a folder, so one that is part of a name is doubled and two paths never meet. */
function flatName(path: string, strategy: Strategy): string {
  if (!path.includes('/')) return path
  const name = path.replaceAll('-', '--').replaceAll('/', '-')
  if (strategy === 'hash-sha256') return createHash('sha256').update(path).digest('hex')
  if (Buffer.byteLength(name) > 255) {
    throw new UserError(`The flat name of ${path} has more than 255 characters. Use the flatten_strategy hash-sha256.`)
  }
  return name
}
