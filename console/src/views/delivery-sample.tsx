// What a delivery would send, by the preview of its component: counts by operation, and a sample.

import { count, plural } from '../format.ts'
import './views.css'

/** Members of the answers of all writers; each has some of them. */
export interface DeliveryAnswer {
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

export function DeliverySample({ answer }: { answer: DeliveryAnswer }) {
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

const Message = ({ answer: { title, text, columns = [], rows } }: { answer: DeliveryAnswer }) => (
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
