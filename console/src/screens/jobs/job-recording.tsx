// The exchanges of a run with its API, recorded: replayed in the builder without a network, to find out what happened or to change what is
// made of the answers. A run that was not recorded can be repeated with the recorder on.

import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Job } from '../../../../client/src/operations.ts'
import { parsed, setAt, valueIn } from '../../document/json-text.ts'
import { EXTRACTOR, RECORDING_TAG } from '../../facts/names.ts'
import { useConfiguration } from '../../facts/use-configuration.ts'
import { bytes } from '../../format.ts'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'

const RECORD = ['parameters', 'config', 'record']

export function JobRecording({ job, isOver }: { job: Job; isOver: boolean }) {
  const enabled = job.component === EXTRACTOR && job.config !== null && isOver
  const query = useLoad('files.list', { query: { runId: job.runId, tags: [RECORDING_TAG], limit: 1 } }, { enabled })
  if (!enabled) return null
  return (
    <section className="card" aria-labelledby="recording">
      <header>
        <h2 id="recording">Recording</h2>
      </header>
      <Loaded query={query}>
        {([file]) =>
          file ? (
            <div className="inset stack-3">
              <p className="soft">What was sent to the API and what it answered, without secrets, {bytes(file.sizeBytes)}.</p>
              <div className="flex-row wrap">
                <Link
                  className="button"
                  to="/builder/$configurationId"
                  params={{ configurationId: job.config! }}
                  search={{ recording: String(file.id), ...(job.configRowIds?.[0] ? { row: job.configRowIds[0] } : {}) }}
                >
                  <Icon name="history" />
                  <span>Replay it offline</span>
                </Link>
                <Link className="button ghost" to="/files" search={{ file: String(file.id) }}>
                  Look into it
                </Link>
              </div>
            </div>
          ) : (
            <NotRecorded job={job} configurationId={job.config!} />
          )
        }
      </Loaded>
    </section>
  )
}

function NotRecorded({ job, configurationId }: { job: Job; configurationId: string }) {
  const navigate = useNavigate()
  const place = { componentId: job.component, configurationId }
  const { data } = useConfiguration(place)
  const isOn = data !== undefined && valueIn(parsed(data.root.text), RECORD) === true
  const record = useMutation({
    mutationFn: async () => {
      if (!isOn)
        await api.call('configurations.update', {
          path: place,
          body: { configuration: setAt(data!.root.text, RECORD, true), changeDescription: 'Record what is sent and answered' },
          headers: { 'if-match': `"${data!.root.version}"` },
        })
      return api.call('queue.rerun', { path: { id: job.id } })
    },
    onSuccess: ({ id }) => {
      toast(`Job ${id} started and is recorded.`)
      void navigate({ to: '/jobs/$jobId', params: { jobId: id } })
    },
  })
  return (
    <div className="inset stack-3">
      <p className="soft">
        This run was not recorded. A recorded run keeps every exchange with the API, and can be replayed without a network.
        {isOn ? '' : ' The button sets parameters.config.record of the configuration, which holds for later runs, too.'}
      </p>
      {record.error ? <Problem error={record.error} /> : null}
      <ActButton needs="queue.create" className="button" disabled={!data || record.isPending} onClick={() => record.mutate()}>
        <Icon name="rerun" />
        <span>Record another run</span>
      </ActButton>
    </div>
  )
}
