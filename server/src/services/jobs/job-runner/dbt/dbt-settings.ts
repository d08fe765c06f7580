// The parameters of platform.dbt, refused with a sentence before anything is fetched.

import { type Static, Type } from 'typebox'
import { membersOf } from '../../../../kit/text/json-text.ts'
import { invalid, read } from '../mapping/mapping.ts'

const Text = Type.String({ minLength: 1, maxLength: 1000 })
const Texts = Type.Array(Text, { maxItems: 200 })
const Git = Type.Object(
  {
    repository: Text,
    ref: Type.Optional(Type.String({ maxLength: 200 })),
    username: Type.Optional(Type.String({ maxLength: 200 })),
    '#password': Type.Optional(Type.String({ maxLength: 2000 })),
  },
  { additionalProperties: false },
)
const Project = Type.Object(
  {
    git: Type.Optional(Git),
    folder: Type.Optional(Text),
    file: Type.Optional(
      Type.Object(
        { id: Type.Optional(Type.Integer({ minimum: 1 })), tags: Type.Optional(Texts) },
        { additionalProperties: false },
      ),
    ),
    path: Type.Optional(Type.String({ maxLength: 1000 })),
  },
  { additionalProperties: false },
)
export const COMMANDS = ['build', 'run', 'test', 'seed', 'snapshot'] as const
const Parameters = Type.Object(
  {
    project: Project,
    command: Type.Optional(Type.Union(COMMANDS.map((name) => Type.Literal(name)))),
    select: Type.Optional(Texts),
    exclude: Type.Optional(Texts),
    vars: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    environment: Type.Optional(Type.Record(Type.String(), Type.String())),
    target: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,60}$' })),
    schema: Type.Optional(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,59}$' })),
    threads: Type.Optional(Type.Integer({ minimum: 1, maximum: 16 })),
    fullRefresh: Type.Optional(Type.Boolean()),
    onlyModified: Type.Optional(Type.Boolean()),
    retry: Type.Optional(Type.Boolean()),
    docs: Type.Optional(Type.Boolean()),
    buckets: Type.Optional(
      Type.Array(
        Type.Object(
          { schema: Text, bucket: Type.String({ pattern: '^(in|out)\\.c-[A-Za-z0-9_-]{1,90}$' }) },
          { additionalProperties: false },
        ),
        { maxItems: 100 },
      ),
    ),
    packages: Type.Optional(Type.Array(Type.String({ pattern: '^[A-Za-z0-9][^\\n]{0,499}$' }), { maxItems: 20 })),
    program: Type.Optional(Type.Array(Text, { minItems: 1, maxItems: 20 })),
  },
  { additionalProperties: false },
)

export interface DbtSettings {
  readonly project:
    | {
        readonly kind: 'git'
        readonly repository: string
        readonly ref: string | undefined
        readonly credentials: GitCredentials | undefined
      }
    | { readonly kind: 'folder'; readonly name: string }
    | { readonly kind: 'file'; readonly id: number | undefined; readonly tags: readonly string[] }
  /** The folder of dbt_project.yml within it; '' is the top. */
  readonly path: string
  readonly command: (typeof COMMANDS)[number]
  readonly select: readonly string[]
  readonly exclude: readonly string[]
  readonly vars: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string>>
  /** Values of `environment` that are secrets. */
  readonly secrets: readonly string[]
  readonly target: string
  readonly schema: string
  readonly threads: number
  readonly fullRefresh: boolean
  readonly onlyModified: boolean
  readonly retry: boolean
  readonly docs: boolean
  /** Buckets by schema, whose names SQL compares without case. */
  readonly buckets: ReadonlyMap<string, string>
  readonly packages: readonly string[]
  readonly program: readonly string[]
}

export interface GitCredentials {
  readonly username: string
  readonly password: string
}

/** Later ones of dbt fetch parts of themselves from elsewhere than the index. */
export const PACKAGES = ['dbt-core==1.10.23', 'dbt-postgres==1.10.2']

export function readDbtSettings(configFile: string): DbtSettings {
  const given: unknown = JSON.parse(membersOf(configFile).get('parameters') ?? '{}')
  const parameters: Static<typeof Parameters> = read(Parameters, given, 'parameters')
  const { project, vars = {}, environment = {}, packages, program } = parameters
  if (packages === undefined ? false : packages.length === 0 && program === undefined)
    throw invalid('parameters.packages is empty: name what installs dbt, or the program of the node in parameters.program')
  refuseSecrets(vars)
  return {
    project: projectOf(project),
    path: plainPath(project.path ?? ''),
    command: parameters.command ?? 'build',
    select: parameters.select ?? [],
    exclude: parameters.exclude ?? [],
    vars,
    environment: Object.fromEntries(Object.entries(environment).map(([name, value]) => [variableName(name), value])),
    secrets: Object.entries(environment).flatMap(([name, value]) => (name.startsWith('#') ? [value] : [])),
    target: parameters.target ?? 'prod',
    schema: parameters.schema ?? 'analytics',
    threads: parameters.threads ?? 4,
    fullRefresh: parameters.fullRefresh ?? false,
    onlyModified: parameters.onlyModified ?? false,
    retry: parameters.retry ?? false,
    docs: parameters.docs ?? true,
    buckets: bucketsOf(parameters.buckets ?? []),
    packages: packages ?? (program === undefined ? PACKAGES : []),
    program: program ?? ['dbt'],
  }
}

/** Variables are on the command line of dbt, which other programs of the machine can read, and in its artefacts. */
function refuseSecrets(vars: Readonly<Record<string, unknown>>): void {
  const open: unknown[] = [vars]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    const name = Array.isArray(value) ? undefined : Object.keys(value).find((one) => one.startsWith('#'))
    if (name !== undefined)
      throw invalid(
        `parameters.vars has the secret "${name.slice(0, 60)}", which would be on the command line: name it #DBT_ENV_SECRET_... in parameters.environment, and read it with env_var`,
      )
    for (const member of Object.values(value)) open.push(member)
  }
}

function projectOf({ git, folder, file }: Static<typeof Project>): DbtSettings['project'] {
  const given = [git, folder, file].filter((one) => one !== undefined)
  if (given.length !== 1)
    throw invalid('parameters.project must name one of git (a repository), folder (of the operator) and file (of the project)')
  if (folder !== undefined) return { kind: 'folder', name: folder }
  if (file !== undefined) {
    if (file.id === undefined && !file.tags?.length) throw invalid('parameters.project.file needs an id or tags')
    return { kind: 'file', id: file.id, tags: file.tags ?? [] }
  }
  const { repository = '', ref, username, '#password': password } = git ?? {}
  if (!/^https?:\/\//.test(repository))
    throw invalid('parameters.project.git.repository must be an address that begins with https://')
  if (password && !hidesCredentials(repository))
    throw invalid(
      'parameters.project.git.repository must begin with https://, because its credentials would be sent in clear: or leave #password out',
    )
  return {
    ...{ kind: 'git', repository, ref: ref || undefined },
    credentials: password ? { username: username || 'git', password } : undefined,
  }
}

/** Plain HTTP is for servers of the same machine. */
function hidesCredentials(repository: string): boolean {
  const { protocol, hostname } = URL.parse(repository) ?? {}
  return protocol === 'https:' || hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname ?? '')
}

function plainPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (path.startsWith('/') || parts.includes('..') || /[\0\\]/.test(path))
    throw invalid('parameters.project.path must stay within the project: it cannot begin with a slash or contain ".."')
  return parts.join('/')
}

/** `#DBT_ENV_SECRET_KEY` is a secret and becomes `DBT_ENV_SECRET_KEY`. Others would change how the run itself works. */
function variableName(name: string): string {
  const plain = name.replace(/^#/, '')
  if (/^DBT_[A-Z0-9_]{1,100}$/.test(plain)) return plain
  throw invalid(
    `parameters.environment has the name "${plain.slice(0, 60)}": names of variables begin with DBT_, in capital letters`,
  )
}

function bucketsOf(given: readonly { readonly schema: string; readonly bucket: string }[]): ReadonlyMap<string, string> {
  const buckets = new Map<string, string>()
  const schemas = new Map<string, string>()
  for (const { schema, bucket } of given) {
    const key = schema.toLowerCase()
    if (buckets.has(key)) throw invalid(`parameters.buckets has the schema "${schema.slice(0, 60)}" twice`)
    const other = schemas.get(bucket)
    if (other !== undefined)
      throw invalid(`parameters.buckets stores the schemas ${other} and ${schema} in the bucket ${bucket}; each needs its own`)
    buckets.set(key, bucket)
    schemas.set(bucket, schema)
  }
  return buckets
}
