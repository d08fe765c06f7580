import { defineModule } from '../../model/module.ts'
import type { ComponentsModule } from '../components/components.module.ts'
import type { ConfigurationsModule } from '../configurations/configurations.module.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { PeopleModule } from '../people/people.module.ts'
import type { JobRecordsModule } from '../queue/job-records.module.ts'
import type { SchedulerModule } from '../scheduler/scheduler.module.ts'
import type { TablesModule } from '../tables/tables.module.ts'
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
