import { defineModule } from '../../../model/module.ts'
import type { ComponentsApiModule } from '../../configuration/components/components-api.module.ts'
import type { SqlPortModule } from '../../query/sql-port/sql-port.module.ts'
import { stackIndexRoutes } from './stack-index.routes.ts'

export interface StackIndexModuleDeps {
  readonly componentsApi: ComponentsApiModule
  readonly sqlPort: SqlPortModule
  readonly revision: string
  readonly domain: string | undefined
}

export const createStackIndexModule = ({ componentsApi, sqlPort, revision, domain }: StackIndexModuleDeps) =>
  defineModule({
    name: 'stack-index',
    routes: [
      stackIndexRoutes({
        revision,
        domain,
        sqlPort: sqlPort.number,
        components: componentsApi.listed,
        published: componentsApi.published,
      }),
    ],
  })
