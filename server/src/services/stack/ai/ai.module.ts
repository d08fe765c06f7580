import { defineModule } from '../../../model/module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { GuidesModule } from '../guides/guides.module.ts'
import { aiRoutes } from './ai.routes.ts'

export const createAiModule = ({
  guides,
  components,
}: {
  readonly guides: GuidesModule
  readonly components: ComponentsModule
}) =>
  defineModule({
    name: 'ai',
    routes: [
      aiRoutes({
        findPassages: guides.findPassages,
        findComponent: (id) => components.find(id),
        listComponents: () => components.list(),
      }),
    ],
  })
