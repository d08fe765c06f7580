// Fields of a chosen kind, from the schema of the component.

import { PAGE_TITLES } from '../../../builder/extractor-document.ts'
import { type Path, parsed, valueIn } from '../../../document/json-text.ts'
import { choiceFor, choicesOf, resolve, type Schema } from '../../../document/schema.ts'
import { SchemaForm } from '../../../editor/schema-form.tsx'
import type { StepProps } from './step.ts'

/** The kind that a value is, of those the component's schema defines. */
export function chosenIn(schema: Schema | undefined, definition: string, value: unknown): Schema | undefined {
  const whole = schema?.$defs?.[definition]
  return schema && whole && choiceFor(value, choicesOf(resolve(whole, { root: schema }), { root: schema }))
}

/** Fields of the chosen kind, from the component's own schema, with plain names. */
export function FromSchema({ root, schema, base, definition }: StepProps & { base: Path; definition: string }) {
  const chosen = chosenIn(schema, definition, valueIn(parsed(root.draft.text), base))
  if (!schema || !chosen) return null
  const properties = Object.fromEntries(
    Object.entries(chosen.properties ?? {}).map(([name, member]) => [
      name,
      PAGE_TITLES[name] ? { ...member, title: PAGE_TITLES[name] } : member,
    ]),
  )
  return (
    <SchemaForm
      schema={{ ...chosen, properties, $defs: schema.$defs ?? {} }}
      base={base}
      text={root.draft.text}
      onChange={root.draft.edit}
    />
  )
}
