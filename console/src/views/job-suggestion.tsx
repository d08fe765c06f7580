// A repair that the failure itself suggests: the version of the last good run, or the value that its message names. It shows what it was
// concluded from, shows the change, and applies it with a new run.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Job } from '../../../client/src/operations.ts'
import { type Change, changesBetween } from '../document/changes.ts'
import { type Path, parsed, setAt, valueIn } from '../document/json-text.ts'
import type { Cause } from '../facts/failure.ts'
import { type ConfigurationPlace, type LoadedConfiguration, useConfiguration } from '../facts/use-configuration.ts'
import { shown, useVersionChanges } from '../facts/version-changes.ts'
import { Lines } from '../load.tsx'
import { ActButton } from '../parts/act-button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import { toast } from '../shell/toast.tsx'
import './views.css'

interface Repair {
  /** Why this is a repair. */
  readonly concludedFrom: string
  readonly changes: readonly Change[]
  readonly saves: string
  /** The label of its button. */
  readonly does: string
  readonly save: () => Promise<unknown>
}

/** `Set "responseFilter": "items[]" in the job`: the suggestion in the message of a failure. */
const ASKED = /Set "(\w+)": ("(?:[^"\\]|\\.)*"|\w+) in the job/

/** Numbers of a pointer are places in lists. */
const pathOf = (pointer: string): Path =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key.replaceAll('~1', '/').replaceAll('~0', '~')))

/** A list keeps what it holds, except what the new value covers: `items` covers `items[].name`. */
function withFormer(former: unknown, value: unknown): unknown {
  if (typeof value !== 'string' || former === undefined || former === '') return value
  const isCovered = (one: unknown) => one === value || /^[[.]/.test(String(one).slice(value.length))
  const kept = [former].flat().filter((one: unknown) => !(String(one).startsWith(value) && isCovered(one)))
  return kept.length === 0 ? value : [...kept, value]
}

/** The value that the failure names, set where it happened. */
function namedValue(
  place: ConfigurationPlace,
  { where }: Cause,
  message: string,
  present: LoadedConfiguration,
): Repair | undefined {
  const asked = ASKED.exec(message)
  if (!asked || !where) return undefined
  const [, name = '', value = ''] = asked
  const { rowId } = where
  const saved = rowId === null ? present.root : present.rows.get(rowId)
  if (!saved) return undefined
  const path = [...pathOf(where.pointer), name]
  const text = setAt(saved.text, path, withFormer(valueIn(parsed(saved.text), path), JSON.parse(value)))
  const changes = changesBetween(parsed(saved.text), parsed(text))
  if (changes.length === 0) return undefined
  const body = { configuration: text, changeDescription: `Set ${name}, as job failure suggests` }
  return {
    concludedFrom: 'The failure names the value.',
    changes,
    does: `Set ${name} and rerun`,
    saves: rowId === null ? 'a new version' : `a new version of the row ${rowId}`,
    save: () =>
      rowId === null
        ? api.call('configurations.update', { path: place, body })
        : api.call('rows.update', { path: { ...place, rowId }, body }),
  }
}

interface SuggestedProps {
  readonly job: Job
  readonly cause: Cause
  readonly message: string
  /** Gets the id of the new job; left out: its page is opened. */
  readonly onStarted?: ((jobId: string) => void) | undefined
}

export function SuggestedRepair({ job, cause, message, onStarted }: SuggestedProps) {
  const place = { componentId: job.component, configurationId: job.config ?? '' }
  const present = useConfiguration(place)
  const version = cause.since?.configVersion
  const changed = useVersionChanges(place, String(present.data?.configuration.version ?? ''), version)
  if (present.isPending || (version && !changed)) return <Lines count={2} />
  if (!present.data) return null
  const earlier: Repair | undefined =
    version && changed && changed.length > 0
      ? {
          concludedFrom: `It went well with version ${version}; this is all that was changed since.`,
          changes: changed,
          does: `Restore version ${version} and rerun`,
          saves: `version ${version} as the newest one`,
          save: () => api.call('configurations.rollBack', { path: { ...place, versionId: version }, body: {} }),
        }
      : undefined
  const repair = earlier ?? namedValue(place, cause, message, present.data)
  return repair ? (
    <RepairCard job={job} repair={repair} before={present.data.configuration.version} onStarted={onStarted} />
  ) : null
}

interface RepairProps extends Pick<SuggestedProps, 'job' | 'onStarted'> {
  readonly repair: Repair
  /** The version that undo restores. */
  readonly before: number
}

function RepairCard({ job, repair, before, onStarted }: RepairProps) {
  const apply = useApply(job, before, onStarted)
  return (
    <section className="suggestion" aria-labelledby="suggestion">
      <div className="stack-2">
        <h3 className="label" id="suggestion">
          Suggested repair
        </h3>
        <pre className="code sunken wrap">
          {repair.changes.map(({ path, before: was, after: is }) => (
            <span key={path.join('.')}>
              <span className="mute diff-line">{path.join('.')}</span>
              {was === undefined ? null : <span className="line-removed diff-line">− {shown(path, was)}</span>}
              {is === undefined ? null : <span className="line-added diff-line">+ {shown(path, is)}</span>}
            </span>
          ))}
        </pre>
      </div>
      <div className="stack-3">
        <h3 className="label">What it will do</h3>
        <p className="body-text soft">
          {repair.concludedFrom} Saves {repair.saves} and runs it.
        </p>
        {apply.error ? <Problem error={apply.error} /> : null}
        <ActButton
          needs="configurations.update"
          className="button primary"
          disabled={apply.isPending}
          onClick={() => apply.mutate(repair)}
        >
          <Icon name="rerun" />
          <span>{repair.does}</span>
        </ActButton>
      </div>
    </section>
  )
}

function useApply({ component, config, configRowIds, branchId }: Job, before: number, onStarted: SuggestedProps['onStarted']) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const path = { componentId: component, configurationId: config ?? '', versionId: String(before) }
  return useMutation({
    mutationFn: async ({ save }: Repair) => {
      await save()
      const rows = configRowIds?.length ? { configRowIds } : {}
      return api.call('queue.create', { body: { component, branchId, mode: 'run', ...(config ? { config } : {}), ...rows } })
    },
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries()
      toast(`Repaired. Job ${id} started.`, async () => {
        await api.call('configurations.rollBack', { path, body: {} })
        await queries.invalidateQueries()
      })
      if (onStarted) onStarted(id)
      else void navigate({ to: '/jobs/$jobId', params: { jobId: id } })
    },
  })
}
