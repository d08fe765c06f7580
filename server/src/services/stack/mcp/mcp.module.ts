import { defineModule } from '../../../model/module.ts'
import type { GuidesModule } from '../guides/guides.module.ts'
import { mcpRoutes } from './mcp.routes.ts'
import { buildTools } from './tools/build.ts'
import { lookTools } from './tools/look.ts'
import { proposeTools } from './tools/propose.ts'
import { queryTools } from './tools/query.ts'
import { runTools } from './tools/run.ts'

export interface McpDeps {
  readonly guides: GuidesModule
  readonly version: string
}

export function createMcpModule({ guides, version }: McpDeps) {
  const tools = [...lookTools(guides.findPassages), ...queryTools, ...runTools, ...buildTools]
  return defineModule({ name: 'mcp', routes: [mcpRoutes({ version, tools, proposeTools, onCalled: () => {} })] })
}
