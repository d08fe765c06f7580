// Whether a branch needs a review before it is merged: on the page of the branches and in the settings of the project.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLoad } from '../load.tsx'
import { Problem } from '../parts/problem.tsx'
import { useRefusal } from '../rights.ts'
import { api } from '../session.ts'
import { toast } from '../shell/toast.tsx'

const RULES: readonly (readonly [string, string])[] = [
  ['', 'not required'],
  ['1', 'one approval'],
  ['2', 'two approvals'],
  ['3', 'three approvals'],
]

export function ReviewRule() {
  const queries = useQueryClient()
  const query = useLoad('mergeRequests.settings')
  const refusal = useRefusal('mergeRequests.changeSettings')
  const refresh = () => queries.invalidateQueries({ queryKey: ['mergeRequests.settings'] })
  const change = useMutation({
    mutationFn: (requiredApprovals: number | null) => api.call('mergeRequests.changeSettings', { body: { requiredApprovals } }),
    onSuccess: async () => {
      const before = query.data?.requiredApprovals ?? null
      await refresh()
      toast('Saved.', async () => {
        await api.call('mergeRequests.changeSettings', { body: { requiredApprovals: before } })
        await refresh()
      })
    },
  })
  const now = String(query.data?.requiredApprovals ?? '')
  const options = RULES.some(([value]) => value === now) ? RULES : [...RULES, [now, `${now} approvals`] as const]
  return (
    <section className="card" aria-label="Reviews">
      <div className="toolbar">
        <label className="flex-row">
          <span className="nowrap">Review before a merge</span>
          <select
            className="input small"
            aria-label="Review before a merge"
            title={refusal}
            disabled={refusal !== undefined || !query.data || change.isPending}
            value={now}
            onChange={(event) => change.mutate(event.target.value === '' ? null : Number(event.target.value))}
          >
            {options.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {refusal ? <p className="fine mute">{refusal}</p> : null}
        {change.error ? <Problem error={change.error} /> : null}
      </div>
    </section>
  )
}
