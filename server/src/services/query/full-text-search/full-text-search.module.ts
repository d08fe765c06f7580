import { defineModule } from '../../../model/module.ts'
import type { PeopleModule } from '../../access/people/people.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import type { JobRecordsModule } from '../../jobs/queue/job-records.module.ts'
import type { SchedulerModule } from '../../jobs/scheduler/scheduler.module.ts'
import type { FilesModule } from '../../storage/files/files.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import { fullTextSearchRoutes } from './full-text-search.routes.ts'
import { createFullTextSearch } from './full-text-search.ts'

export interface SearchModuleDeps {
  readonly people: PeopleModule
  readonly jobRecords: JobRecordsModule
  readonly components: ComponentsModule
  readonly configurations: ConfigurationsModule
  readonly files: FilesModule
  readonly tables: TablesModule
  readonly scheduler: SchedulerModule
}

/** The search by a word, for people who type. */
export function createFullTextSearchModule(deps: SearchModuleDeps) {
  const { people, jobRecords, components, configurations, files, tables, scheduler } = deps
  const search = createFullTextSearch({
    table: tables.search.tables,
    column: tables.search.columns,
    configuration: configurations.search.configurations,
    row: configurations.search.rows,
    content: configurations.search.contents,
    job: jobRecords.search(components.canonicalId),
    person: people.search,
    file: files.findNamed,
    schedule: scheduler.find,
  })
  return defineModule({ name: 'full-text-search', routes: [fullTextSearchRoutes(search)] })
}
