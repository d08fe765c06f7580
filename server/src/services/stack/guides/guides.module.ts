import { createGuideFolder } from '../../../engines/guide-folder/guide-folder.ts'
import { defineModule } from '../../../model/module.ts'
import { guidesRoutes } from './guides.routes.ts'
import { createGuides } from './guides.ts'

export const createGuidesModule = () =>
  defineModule({ name: 'guides', routes: [guidesRoutes(createGuides(createGuideFolder()))] })
