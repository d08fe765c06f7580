// What a delivery would send, by the component's own preview: counts by operation, and a sample. Nothing is sent.

import { useMutation } from '@tanstack/react-query'
import { effectiveConfiguration } from '../../../../../contract/effective-configuration.ts'
import { parsed } from '../../../document/json-text.ts'
import { behindText, countsText, WRITERS } from '../../../facts/deliveries.ts'
import { runAction } from '../../../facts/run-action.ts'
import { moment } from '../../../format.ts'
import { useLoad } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { type DeliveryAnswer, DeliverySample } from '../../../views/delivery-sample.tsx'
import '../configuration.css'

interface DeliveryProps {
  readonly componentId: string
  readonly configurationId: string
  readonly rowId: string | undefined
  readonly root: string
  readonly row: string | undefined
}

export const DeliveryPreview = (props: DeliveryProps) => (WRITERS.has(props.componentId) ? <Delivery {...props} /> : null)

/** How far the target is behind, for each table of the configuration or row. */
function Behind({ componentId, configurationId, rowId }: Pick<DeliveryProps, 'componentId' | 'configurationId' | 'rowId'>) {
  const { data = [] } = useLoad('lineage.deliveries', {})
  const own = data.filter(
    (one) =>
      one.componentId === componentId && one.configurationId === configurationId && (!rowId || (one.rowId ?? rowId) === rowId),
  )
  return own.map(({ tableId, state, behindSeconds, lastDelivery, failure }) => (
    <p key={tableId} className="fine">
      <span className="mono">{tableId}</span> is {behindText({ state, behindSeconds })}
      {lastDelivery ? `, last ${moment(lastDelivery.time)}: ${countsText(lastDelivery.counts)}` : ''}
      {failure ? `; the newest job failed: ${failure.message ?? ''}` : ''}
    </p>
  ))
}

function Delivery({ componentId, configurationId, rowId, root, row }: DeliveryProps) {
  const preview = useMutation({
    mutationFn: () => runAction<DeliveryAnswer>(componentId, 'preview', effectiveConfiguration(root, row).text),
  })
  const isReadable = parsed(root) !== undefined && (row === undefined || parsed(row) !== undefined)
  return (
    <div className="stack-2 component-actions">
      <div className="flex-row wrap">
        <ActButton
          needs="syncActions.run"
          className="button small"
          disabled={preview.isPending || !isReadable}
          onClick={() => preview.mutate()}
        >
          {preview.isPending ? 'Looking what would be sent ...' : 'Preview the delivery'}
        </ActButton>
        <span className="fine mute">The first 100 rows; nothing is sent.</span>
      </div>
      <Behind componentId={componentId} configurationId={configurationId} rowId={rowId} />
      {preview.error ? <Problem error={preview.error} /> : null}
      {preview.data ? <DeliverySample answer={preview.data} /> : null}
    </div>
  )
}
