import { CONFIG, jobPath, tableOf } from '../../../builder/extractor-document.ts'
import type { StepProps } from './step.ts'
import { Choose, Params, Text } from './step-fields.tsx'

export const RequestStep = ({ root, current, index, document }: StepProps) => (
  <>
    <div className="two-fields">
      <Text owner={current} path={[...jobPath(index), 'endpoint']} label="Endpoint" placeholder="orders" />
      <Choose
        owner={current}
        path={[...jobPath(index), 'method']}
        label="Method"
        options={['GET', 'POST', 'FORM']}
        otherwise="GET"
      />
      <Text
        owner={current}
        path={[...jobPath(index), 'dataField']}
        label="Items are at"
        placeholder="found by itself"
        hint="Path of the list in the answer."
      />
      <Text owner={current} path={[...jobPath(index), 'dataType']} label="Table" placeholder={tableOf(document, index)} />
      <Text owner={root} path={[...CONFIG, 'outputBucket']} label="Bucket" placeholder="created for this configuration" />
    </div>
    <Params owner={current} secretOwner={root} path={[...jobPath(index), 'params']} label="Parameters" />
  </>
)
