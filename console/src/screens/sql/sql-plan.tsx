// How the stack would run a query, and with measuring, how it did: the time and the rows of each step.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { SqlQueryBody } from '../../../../client/src/operations.ts'
import { Loaded } from '../../load.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { api } from '../../session.ts'
import './sql.css'

interface PlanProps {
  readonly statements: readonly { readonly sql: string; readonly parameters: SqlQueryBody['parameters'] | undefined }[]
  readonly onClose: () => void
}

export function PlanDrawer({ statements, onClose }: PlanProps) {
  const [isMeasured, setMeasured] = useState(false)
  return (
    <Drawer title="Plan" onClose={onClose}>
      <label className="check-line">
        <input type="checkbox" checked={isMeasured} onChange={(event) => setMeasured(event.target.checked)} />
        Run it, and show the time and the rows of each step
      </label>
      {statements.length === 0 ? <p className="mute">There is no statement.</p> : null}
      {statements.map((statement, index) => (
        <Plan
          // biome-ignore lint/suspicious/noArrayIndexKey: a statement has no other name
          key={index}
          statement={statement}
          isMeasured={isMeasured}
          title={statements.length > 1 ? `Statement ${index + 1}` : ''}
        />
      ))}
    </Drawer>
  )
}

interface StatementPlanProps {
  readonly statement: PlanProps['statements'][number]
  readonly isMeasured: boolean
  readonly title: string
}

function Plan({ statement: { sql, parameters }, isMeasured, title }: StatementPlanProps) {
  const query = useQuery({
    queryKey: ['plan of', sql, parameters, isMeasured],
    queryFn: async ({ signal }) => {
      const body = { sql: `explain ${isMeasured ? 'analyze ' : ''}${sql}`, ...(parameters && { parameters }) }
      const { rows } = (await api.call('sql.query', { body, signal })) as { readonly rows: readonly (readonly unknown[])[] } // described loosely
      return { text: rows.map((row) => String(row.at(-1))).join('\n') }
    },
    gcTime: 0,
    retry: false,
  })
  return (
    <section className="stack-2" aria-label={title || 'Plan of the query'}>
      {title ? <h3 className="heading">{title}</h3> : null}
      <Loaded query={query}>{({ text }) => <pre className="code sunken plan-text">{text}</pre>}</Loaded>
    </section>
  )
}
