import { defineModule } from '../../../model/module.ts'
import type { ConfigurationsModule } from '../configurations/configurations.module.ts'
import type { ComponentsModule } from './components.module.ts'
import { componentsRoutes, published } from './components.routes.ts'

export interface ComponentsApiDeps {
  readonly components: ComponentsModule
  readonly configurations: ConfigurationsModule
}

export type ComponentsApiModule = ReturnType<typeof createComponentsApiModule>

export function createComponentsApiModule({ components, configurations }: ComponentsApiDeps) {
  return defineModule({
    name: 'components-api',
    routes: [
      componentsRoutes({
        components,
        configurationsOf: ({ actor, branch, origin }, isDeleted, include) =>
          configurations.reader.listAll({ actor, branch, origin }, isDeleted, include),
      }),
    ],
    listed: () => components.listed(configurations.listComponentIds),
    published,
  })
}
