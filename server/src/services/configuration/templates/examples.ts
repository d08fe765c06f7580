// Examples of configurations: what the templates of the catalogue create with the defaults of their inputs.

import { PlatformError } from '../../../kit/errors.ts'
import type { Catalogue, TemplateVersion } from './catalogue.ts'
import type { Answers } from './conditions.ts'
import type { TemplateManifest } from './manifest.ts'
import { render } from './render.ts'

type Content = Readonly<Record<string, unknown>>

export interface Examples {
  readonly configurations: readonly Content[]
  readonly rows: readonly Content[]
}

const MAX_EXAMPLES = 5

/** The first few of the component whose ids `isOf` accepts. A template that cannot be rendered with defaults has none. */
export async function examplesOf(
  catalogue: Pick<Catalogue, 'repositories' | 'list' | 'version'>,
  stackUrl: string,
  isOf: (componentId: string) => boolean,
): Promise<Examples> {
  const configurations: Content[] = []
  const rows: Content[] = []
  for (const { head, folder } of await catalogue.repositories()) {
    if (folder === undefined) continue
    const { templates } = await catalogue.list(head.name)
    for (const { id, components } of templates) {
      if (configurations.length >= MAX_EXAMPLES || !components.some(isOf)) continue
      for (const made of rendered(await catalogue.version(head.name, id, 'default'), stackUrl)) {
        if (!isOf(made.componentId)) continue
        configurations.push(made.configuration)
        rows.push(...made.rows.map((row) => row.configuration))
      }
    }
  }
  return { configurations: configurations.slice(0, MAX_EXAMPLES), rows: rows.slice(0, MAX_EXAMPLES) }
}

function rendered({ manifest, template }: TemplateVersion, stackUrl: string) {
  try {
    return render(manifest, {
      answers: defaultsOf(manifest),
      instance: { id: 'example', name: template.name },
      stackUrl,
      configurationIds: new Map(manifest.configurations.map(({ id }) => [id, id])),
    })
  } catch (error) {
    if (error instanceof PlatformError) return []
    throw error
  }
}

/** Every step is filled in; what has no default is empty, as secrets are. */
function defaultsOf({ stepGroups }: TemplateManifest): Answers {
  const steps = stepGroups.flatMap((group) => group.steps)
  const inputs = steps
    .flatMap((step) => step.inputs)
    .map(({ id, kind, type, default: standard }) => [id, kind === 'hidden' ? '' : (standard ?? EMPTY[type] ?? '')] as const)
  return { inputs: new Map<string, unknown>(inputs), steps: new Set(steps.map(({ id }) => id)) }
}

const EMPTY: Readonly<Record<string, unknown>> = { int: 0, double: 0, bool: false, 'string[]': [], object: {} }
