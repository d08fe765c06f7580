// What Millrace ships. Each description states what differs from the defaults of description.ts.
// Their ids are those that clients use; `platform.` and other names of the same components are aliases (spec platform 1.1).

import type { ComponentDescription } from '../../../../../contract/component.ts'
import airbyteSource from './builtin/airbyte-source.json' with { type: 'json' }
import dataApps from './builtin/data-apps.json' with { type: 'json' }
import databaseChanges from './builtin/database-changes.json' with { type: 'json' }
import databaseExtractor from './builtin/database-extractor.json' with { type: 'json' }
import databaseWriter from './builtin/database-writer.json' with { type: 'json' }
import dbt from './builtin/dbt.json' with { type: 'json' }
import filesExtractor from './builtin/files-extractor.json' with { type: 'json' }
import filesWriter from './builtin/files-writer.json' with { type: 'json' }
import flow from './builtin/flow.json' with { type: 'json' }
import folderReader from './builtin/folder-reader.json' with { type: 'json' }
import folderWriter from './builtin/folder-writer.json' with { type: 'json' }
import httpExtractor from './builtin/http-extractor.json' with { type: 'json' }
import httpWriter from './builtin/http-writer.json' with { type: 'json' }
import manifestConnector from './builtin/manifest-connector.json' with { type: 'json' }
import mcpServerTool from './builtin/mcp-server-tool.json' with { type: 'json' }
import messagesWriter from './builtin/messages-writer.json' with { type: 'json' }
import orchestrator from './builtin/orchestrator.json' with { type: 'json' }
import processors from './builtin/processors.json' with { type: 'json' }
import pythonTransformation from './builtin/python-transformation.json' with { type: 'json' }
import sandboxes from './builtin/sandboxes.json' with { type: 'json' }
import scheduler from './builtin/scheduler.json' with { type: 'json' }
import sharedCode from './builtin/shared-code.json' with { type: 'json' }
import singerTap from './builtin/singer-tap.json' with { type: 'json' }
import singerTarget from './builtin/singer-target.json' with { type: 'json' }
import sparkSql from './builtin/spark-sql.json' with { type: 'json' }
import sqlTransformation from './builtin/sql-transformation.json' with { type: 'json' }
import variables from './builtin/variables.json' with { type: 'json' }
import { readDescription } from './description.ts'

/** Processors differ in little more than their names. */
const processorDescriptions = processors.map(({ name, title, description, vendor, also }) => ({
  id: `${vendor ?? 'keboola'}.processor-${name}`,
  aliases: [`platform.processor-${name}`, ...(also ? [`keboola.processor-${also}`, `platform.processor-${also}`] : [])],
  type: 'processor',
  name: title,
  description,
  data: { definition: { type: 'builtin', uri: 'processors/src/main.ts', name, tag: '1' }, network: 'none' },
}))

const VENDOR = {
  name: 'Millrace',
  contact: ['The operator of this stack'],
  licenseUrl: 'https://www.apache.org/licenses/LICENSE-2.0',
}

/** Addresses that begin with a slash are pages of the stack. */
function pagesOf(id: string) {
  const page = `/docs/components/${id}`
  const icon = `${page}/icon.svg`
  return { documentationUrl: page, ico32: icon, ico64: icon, ico128: icon }
}

export const BUILTIN: readonly ComponentDescription[] = [
  airbyteSource,
  dataApps,
  databaseChanges,
  databaseExtractor,
  databaseWriter,
  dbt,
  filesExtractor,
  filesWriter,
  messagesWriter,
  flow,
  folderReader,
  folderWriter,
  httpExtractor,
  httpWriter,
  manifestConnector,
  mcpServerTool,
  orchestrator,
  pythonTransformation,
  sandboxes,
  scheduler,
  sharedCode,
  singerTap,
  singerTarget,
  sparkSql,
  sqlTransformation,
  variables,
  ...processorDescriptions,
].map((stated) => {
  const read = readDescription({
    ...pagesOf(stated.id),
    ...stated,
    data: { vendor: VENDOR, ...(stated as { data?: object }).data }, // of the JSON files of this folder
  })
  if (!read.ok) throw new Error(`Built-in component ${stated.id}: ${read.problems.join('; ')}`)
  return read.description
})
