import { createGuideFolder } from '../../../engines/guide-folder/guide-folder.ts'
import { defineModule } from '../../../model/module.ts'
import { guidesRoutes } from './guides.routes.ts'
import { createGuides } from './guides.ts'
import { createPassages, indexedParts } from './passages.ts'

export type GuidesModule = ReturnType<typeof createGuidesModule>

export function createGuidesModule({ version }: { readonly version: string }) {
  const folder = createGuideFolder()
  const { find } = createPassages(folder)
  return defineModule({
    name: 'guides',
    routes: [guidesRoutes({ guides: createGuides(folder), find, readImage: folder.readImage, version })],
    /** Passages that answer a question. */
    findPassages: find,
    /** For the documentation site. */
    list: folder.list,
    read: folder.read,
    indexedParts: () => indexedParts(folder),
  })
}
