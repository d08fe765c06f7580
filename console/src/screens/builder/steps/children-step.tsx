import { jobPath } from '../../../builder/extractor-document.ts'
import { SchemaForm } from '../../../editor/schema-form.tsx'
import type { StepProps } from './step.ts'

export const ChildrenStep = ({ current, index, schema }: StepProps) => (
  <>
    <p className="mute">
      A child is requested once for every item: <span className="identifier">orders/{'{id}'}/lines</span>, with the id of the item
      in its place.
    </p>
    {schema ? (
      <SchemaForm
        schema={{
          type: 'object',
          $defs: schema.$defs ?? {},
          properties: { children: { title: 'Requests for every item', type: 'array', items: { $ref: '#/$defs/job' } } },
        }}
        base={jobPath(index)}
        text={current.draft.text}
        onChange={current.draft.edit}
      />
    ) : null}
  </>
)
