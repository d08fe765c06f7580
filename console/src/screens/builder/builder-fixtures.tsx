// Answers that were recorded: kept as a file of the project, and used instead of the API.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError } from '../../../../client/src/client.ts'
import { RECORDING_TAG } from '../../facts/names.ts'
import { moment } from '../../format.ts'
import { useLoad } from '../../load.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api, rememberSent, sessionHeaders } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { uploadFields, uploadForm } from '../../upload/upload-form.ts'
import './builder.css'

export interface Fixture {
  readonly name: string
  /** One exchange in a line, the format of record and replay. */
  readonly text: string
}

const tagOf = (configurationId: string): string => `configuration-${configurationId}`

async function keep(configurationId: string, text: string): Promise<void> {
  const name = `fixture-${configurationId}.jsonl`
  const tags = [RECORDING_TAG, tagOf(configurationId)].map((tag) => ['tags[]', tag] as const)
  const fields = uploadFields(name, [['isPermanent', '1'], ...tags])
  rememberSent('import.uploadFile', {}, { name, fields })
  const body = uploadForm(fields, new Blob([text]), name)
  const response = await fetch('/import/upload-file', { method: 'POST', headers: sessionHeaders(), body })
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => undefined))
}

export function Fixtures({
  configurationId,
  fixture,
  recording,
  canRecord,
  onRecord,
  onReplay,
}: {
  configurationId: string
  fixture: Fixture | undefined
  /** Id of a file that is replayed from the start: what a run recorded. */
  recording: string | undefined
  /** There is a request that can be repeated. */
  canRecord: boolean
  /** Sends the requests once more and answers what was recorded. */
  onRecord: () => Promise<string>
  onReplay: (fixture: Fixture | undefined) => void
}) {
  const queries = useQueryClient()
  const files = useLoad('files.list', { query: { tags: [tagOf(configurationId)], limit: 20 } }).data ?? []
  const record = useMutation({
    mutationFn: async () => keep(configurationId, await onRecord()),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['files.list'] })
      toast('Kept as a fixture, without secrets.')
    },
  })
  const open = useMutation({
    mutationFn: async (id: string) => {
      const file = files.find((one) => String(one.id) === id)
      const response = await api.open('files.content', { path: { id } })
      return { name: file ? moment(file.created) : 'the recorded run', text: await response.text() }
    },
    onSuccess: onReplay,
  })
  const { mutate } = open
  useEffect(() => {
    if (recording !== undefined) mutate(recording)
  }, [recording, mutate])
  const recorded = files.filter(({ tags }) => tags.includes(RECORDING_TAG))
  if (!canRecord && !fixture && recorded.length === 0 && !open.error) return null
  return (
    <div className="flex-row wrap pane-section fixtures">
      {canRecord ? (
        <button type="button" className="button small" disabled={record.isPending} onClick={() => record.mutate()}>
          <Icon name="camera" size="small" />
          <span>Save as a fixture</span>
        </button>
      ) : null}
      {fixture ? (
        <>
          <span className="status running" role="status">
            <Icon name="history" size="small" />
            Offline: answers of {fixture.name}
          </span>
          <button type="button" className="button small" onClick={() => onReplay(undefined)}>
            Query the API again
          </button>
        </>
      ) : recorded.length > 0 ? (
        <label className="flex-row">
          <span className="fine mute">Replay offline</span>
          <select className="input" value="" onChange={(event) => open.mutate(event.target.value)}>
            <option value="">choose a fixture</option>
            {recorded.map(({ id, created }) => (
              <option key={id} value={id}>
                {moment(created)}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {record.error ? <Problem error={record.error} /> : null}
      {open.error ? <Problem error={open.error} /> : null}
    </div>
  )
}
