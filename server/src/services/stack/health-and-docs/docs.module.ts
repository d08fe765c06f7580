// The pages about the API: the OpenAPI document, its reader, and a page for each component.

import type { DocumentedRoute } from '../../../http/openapi.ts'
import { defineModule } from '../../../model/module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import { pagesRoutes } from './health-and-docs.routes.ts'

export interface DocsModuleDeps {
  readonly components: ComponentsModule
  readonly version: string
  /** All routes of the server, once they are added. */
  readonly routes: readonly DocumentedRoute[]
}

export const createDocsModule = ({ components, version, routes }: DocsModuleDeps) =>
  defineModule({ name: 'docs', routes: [pagesRoutes({ version, routes, component: components.find })] })
