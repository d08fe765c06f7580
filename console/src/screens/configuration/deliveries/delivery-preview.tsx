// What a delivery would send, by the component's own preview: counts by operation, and a sample. Nothing is sent.

import { useMutation } from '@tanstack/react-query'
import { effectiveConfiguration } from '../../../../../contract/effective-configuration.ts'
import { parsed } from '../../../document/json-text.ts'
import { behindText, countsText, WRITERS } from '../../../facts/deliveries.ts'
import { runAction } from '../../../facts/run-action.ts'
import { count, moment, plural } from '../../../format.ts'
import { useLoad } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { Problem } from '../../../parts/problem.tsx'
import '../configuration.css'

/** Members of the answers of all writers; each has some of them. */
interface Preview {
  readonly rowsOfTable?: number
  readonly operations?: Readonly<Record<string, number>>
  readonly invalid?: number
  readonly problems?: readonly string[]
  readonly requests?: readonly { readonly method: string; readonly url: string; readonly body?: string }[]
  readonly sample?: readonly { readonly operation: string; readonly values: Readonly<Record<string, string | null>> }[]
  readonly files?: readonly { readonly path: string; readonly rows: number; readonly bytes: number }[]
  readonly lines?: readonly string[]
  readonly title?: string
  readonly text?: string
  readonly columns?: readonly unknown[]
  readonly rows?: unknown
  readonly chart?: string
}

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
    mutationFn: () => runAction<Preview>(componentId, 'preview', effectiveConfiguration(root, row).text),
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
      {preview.data ? <Shown answer={preview.data} /> : null}
    </div>
  )
}

function Shown({ answer }: { answer: Preview }) {
  const { operations, invalid = 0, problems = [], requests = [], sample = [], files = [], lines = [], chart } = answer
  const counted = Object.entries(operations ?? {}).filter(([, number]) => number > 0)
  return (
    <section className="stack-2" aria-label="What would be sent">
      {operations ? (
        <p>
          {counted.length === 0 ? 'No rows' : counted.map(([name, number]) => `${count(number)} ${name}`).join(', ')}
          {invalid > 0 ? `, ${plural(invalid, 'row')} without a request` : ''}
          {answer.rowsOfTable === undefined ? '' : `; the table has ${plural(answer.rowsOfTable, 'row')}`}
        </p>
      ) : null}
      {problems.map((problem) => (
        <p key={problem} className="fine">
          {problem}
        </p>
      ))}
      {requests.map(({ method, url, body }) => (
        <pre key={`${method} ${url} ${body}`} className="sample mono">{`${method} ${url}\n${body ?? ''}`}</pre>
      ))}
      {sample.length > 0 ? (
        <pre className="sample mono">
          {sample.map(({ operation, values }) => `${operation} ${JSON.stringify(values)}`).join('\n')}
        </pre>
      ) : null}
      {files.map(({ path, rows, bytes }) => (
        <p key={path}>
          <span className="mono">{path}</span>: {plural(rows, 'row')}, {count(bytes)} bytes
        </p>
      ))}
      {lines.length > 0 ? <pre className="sample mono">{lines.join('\n')}</pre> : null}
      {answer.title !== undefined ? <Message answer={answer} /> : null}
      {chart === undefined ? null : <img src={chart} alt="The chart of the message" className="delivery-chart" />}
    </section>
  )
}

const Message = ({ answer: { title, text, columns = [], rows } }: { answer: Preview }) => (
  <>
    <p className="medium">{title}</p>
    {text ? <p>{text}</p> : null}
    {Array.isArray(rows) && rows.length > 0 ? (
      <pre className="sample mono">
        {[columns, ...(rows as unknown[][])].map((line) => line.map((cell) => cell ?? '').join('  ')).join('\n')}
      </pre>
    ) : null}
  </>
)
