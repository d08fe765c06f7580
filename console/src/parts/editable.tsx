import type { ReactNode } from 'react'
import type { OperationName } from '../../../client/src/client.ts'
import { useRefusal } from '../rights.ts'

/** Fields that end in one operation: disabled, with the reason, for people whose role does not allow it. */
export function Editable({ needs, children }: { needs: OperationName; children: ReactNode }) {
  const refusal = useRefusal(needs)
  if (refusal === undefined) return children
  return (
    <fieldset className="plain contents" disabled title={refusal}>
      {children}
    </fieldset>
  )
}
