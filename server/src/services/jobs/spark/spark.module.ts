import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { IcebergModule } from '../../query/iceberg/iceberg.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { ProgramsModule } from '../job-runner/programs.module.ts'
import { createSparkScripts, NO_SPARK, type SparkSettings } from './spark-scripts.ts'

export interface SparkModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly programs: ProgramsModule
  readonly tables: TablesModule
  readonly iceberg: IcebergModule
  readonly settings: SparkSettings | undefined
}

export type SparkModule = ReturnType<typeof createSparkModule>

const DRIVER_FOLDER = fileURLToPath(new URL('../../../../../components/spark-sql', import.meta.url))

export const createSparkModule = ({ core, tokens, programs, tables, iceberg, settings = NO_SPARK }: SparkModuleDeps) =>
  defineModule({
    name: 'spark',
    scripts: createSparkScripts({
      settings,
      runner: programs.runner,
      namespace: iceberg.runNamespace,
      tables: tables.runTables,
      issueToken: ({ actor, runId }, buckets, expiresIn) =>
        tokens.issueReader(actor, `Spark run of job ${runId}`, expiresIn, buckets),
      revokeToken: ({ actor }, id) => tokens.revokeOfRun(actor, id),
      driverFolder: DRIVER_FOLDER,
      packagesFolder: join(core.dataDir, 'cache', 'spark'),
    }),
  })

export type { SparkSettings }
