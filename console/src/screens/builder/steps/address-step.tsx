import { API } from '../../../builder/extractor-document.ts'
import { SchemaForm } from '../../../editor/schema-form.tsx'
import type { StepProps } from './step.ts'
import { Text } from './step-fields.tsx'

export const AddressStep = ({ root }: StepProps) => (
  <>
    <Text
      owner={root}
      path={[...API, 'baseUrl']}
      label="Base address"
      placeholder="https://api.example.com/v1/"
      hint="Endpoints are relative to it, like links of a page: end it with a slash."
    />
    <p className="label">Headers of every request</p>
    <SchemaForm
      schema={{ type: 'object', additionalProperties: { type: ['string', 'number'] } }}
      base={[...API, 'http', 'headers']}
      text={root.draft.text}
      onChange={root.draft.edit}
    />
  </>
)
