// What `npm run prove` runs, and what docs/conformance.md counts. `words` choose test files as those of `npm test` do.

export interface Area {
  readonly id: string
  readonly name: string
  /** Against what the behaviour is compared. */
  readonly comparedWith: string
  readonly words: readonly string[]
  /** Run again with new seeds as long as there is time. */
  readonly isRepeated?: boolean
}

export const AREAS: readonly Area[] = [
  {
    id: 'api',
    name: 'API',
    comparedWith: 'the specification, the recorded answers of the public API and what its clients expect',
    words: ['tests/conformance'],
  },
  {
    id: 's3',
    name: 'S3 and file storage',
    comparedWith: 'the AWS and Azure SDKs',
    words: ['services/storage/s3', 'services/storage/files', 'engines/object-store'],
  },
  {
    id: 'extractor',
    name: 'HTTP extractor',
    comparedWith: 'the specification and the examples of the public extractor',
    words: ['components/http-extractor'],
  },
  {
    id: 'manifests',
    name: 'Declarative manifests',
    comparedWith: 'requests, records and states recorded with airbyte-cdk 7.39.1',
    words: ['components/manifest-connector'],
  },
  {
    id: 'databases',
    name: 'Databases, in and out',
    comparedWith: 'PostgreSQL and SQLite',
    words: ['components/database-', 'components/connector-kit'],
  },
  {
    id: 'port',
    name: 'PostgreSQL port',
    comparedWith: 'PostgreSQL 18, pg, and statements of BI tools',
    words: ['services/query/sql-port', 'engines/pg-wire', 'tests/e2e/sql-port'],
  },
  { id: 'iceberg', name: 'Iceberg', comparedWith: 'DuckDB and iceberg-js', words: ['services/query/iceberg'] },
  { id: 'console', name: 'Console', comparedWith: 'what a user does in a Chromium browser', words: ['tests/console'] },
  {
    id: 'faults',
    name: 'Faults',
    comparedWith: 'what was acknowledged before kill -9, lost connections, full and failing disks',
    words: ['tests/faults', '.faults.test'],
    isRepeated: true,
  },
  {
    id: 'simulation',
    name: 'Simulated nodes',
    comparedWith:
      'the rules of schedules, flows, jobs, loads and their leases, on nodes that die, stand still and lose answers by a seed',
    words: ['tests/simulation'],
    isRepeated: true,
  },
  {
    id: 'fuzz',
    name: 'Random requests',
    comparedWith: 'no 5xx, no hang, no data of another project, for every operation and kind of token',
    words: ['tests/fuzz'],
    isRepeated: true,
  },
]
