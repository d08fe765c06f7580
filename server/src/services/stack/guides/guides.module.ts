import { createGuideFolder } from '../../../engines/guide-folder/guide-folder.ts'
import { defineModule } from '../../../model/module.ts'
import { guidesRoutes } from './guides.routes.ts'
import { createGuides } from './guides.ts'
import { createPassages } from './passages.ts'

export type GuidesModule = ReturnType<typeof createGuidesModule>

export function createGuidesModule() {
  const folder = createGuideFolder()
  return defineModule({
    name: 'guides',
    routes: [guidesRoutes(createGuides(folder))],
    /** Passages that answer a question. */
    findPassages: createPassages(folder).find,
  })
}
