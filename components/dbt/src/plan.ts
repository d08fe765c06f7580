// What this program has to run. Written by server/src/services/jobs/job-runner/dbt/dbt-plan.ts.

export interface Plan {
  /** Installed into an environment; none for a dbt of the node. */
  readonly packages: readonly string[]
  /** The program, found in the environment first. */
  readonly program: readonly string[]
  /** Commands of dbt with their arguments, one after the other; a failed one ends the run. */
  readonly commands: readonly (readonly string[])[]
  /** For a project that names packages and does not bring them along. */
  readonly deps: readonly string[]
  /** Makes the catalogue when all went well; undefined: not requested. */
  readonly docs?: readonly string[]
  /** Text of profiles.yml. */
  readonly profiles: string
  readonly secrets: readonly string[]
  /** For `env_var` of the project. */
  readonly environment: Readonly<Record<string, string>>
  /** An archive in in/dbt that holds the project; undefined: it is in in/dbt/project. */
  readonly archive?: string
  /** The folder of the project in what was fetched. */
  readonly folder: string
  /** Part of the state of the configuration. */
  readonly state: Readonly<Record<string, unknown>>
}
