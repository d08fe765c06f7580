// The repair of a failed job, beside its cause: the values that the cause points at, those of the last good run, apply and rerun.

import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { Job } from '../../../client/src/operations.ts'
import { changesBetween } from '../document/changes.ts'
import { isBelowSecret, type Path, parsed, pathText, setAt, valueIn } from '../document/json-text.ts'
import { pathOfPointer, repairPlaces } from '../document/repair.ts'
import { typedValue } from '../document/schema.ts'
import { SecretInput } from '../editor/schema-form.tsx'
import type { Cause } from '../facts/failure.ts'
import { type LoadedConfiguration, useConfiguration } from '../facts/use-configuration.ts'
import { plural } from '../format.ts'
import { useLoad } from '../load.tsx'
import { ActButton } from '../parts/act-button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import { toast } from '../shell/toast.tsx'
import './views.css'

type Where = NonNullable<Cause['where']>

export function Repair({ job, cause }: { job: Job; cause: Cause }) {
  const place = { componentId: job.component, configurationId: job.config ?? '' }
  const { data } = useConfiguration(place)
  if (!data || !cause.where) return null
  return <RepairForm key={data.configuration.version} job={job} cause={cause} where={cause.where} loaded={data} />
}

interface Edit {
  readonly path: Path
  readonly value: unknown
}

function RepairForm({ job, cause, where, loaded }: { job: Job; cause: Cause; where: Where; loaded: LoadedConfiguration }) {
  const navigate = useNavigate()
  const [edits, setEdits] = useState<ReadonlyMap<string, Edit>>(new Map())
  const saved = where.in === 'row' && where.rowId !== null ? loaded.rows.get(where.rowId) : loaded.root
  const document = parsed(saved?.text ?? '{}')
  const path = pathOfPointer(document, where.pointer)
  const edit = (at: Path, value: unknown) => setEdits((before) => new Map(before).set(pathText(at), { path: at, value }))
  const before = useGoodValues(job, cause, where, path, document)
  const apply = useMutation({
    mutationFn: async () => {
      const text = [...edits.values()].reduce((now, { path: at, value }) => setAt(now, at, value), saved!.text)
      const body = { configuration: text, changeDescription: `Repaired after job ${job.id}` }
      const at = { componentId: job.component, configurationId: job.config ?? '' }
      const headers = { 'if-match': `"${saved!.version}"` }
      if (where.in === 'row' && where.rowId !== null)
        await api.call('rows.update', { path: { ...at, rowId: where.rowId }, body, headers })
      else await api.call('configurations.update', { path: at, body, headers })
      return api.call('queue.create', {
        body: {
          component: job.component,
          mode: 'run',
          config: at.configurationId,
          ...(job.configRowIds?.length ? { configRowIds: job.configRowIds } : {}),
        },
      })
    },
    onSuccess: ({ id }) => {
      toast(`Saved, and job ${id} started.`)
      void navigate({ to: '/jobs/$jobId', params: { jobId: id } })
    },
  })
  if (!saved) return null
  return (
    <form
      className="stack-3"
      aria-label="Repair"
      onSubmit={(event) => {
        event.preventDefault()
        apply.mutate()
      }}
    >
      {before.length > 0 ? (
        <div className="note running">
          <Icon name="history" />
          <div className="grow stack-2">
            <p>
              The last good run had {before.length === 1 ? 'another value' : `${before.length} other values`} here, in version{' '}
              {cause.since!.configVersion}:{' '}
              {before.map(({ path: at, value }) => `${pathText(at)} was ${brief(at, value)}`).join('; ')}.
            </p>
          </div>
          <button type="button" className="button small" onClick={() => before.map(({ path: at, value }) => edit(at, value))}>
            Revert {before.length === 1 ? 'it' : 'them'}
          </button>
        </div>
      ) : null}
      <div className="two-fields">
        {repairPlaces(document, path).map((at) => (
          <RepairField
            key={pathText(at)}
            path={at}
            value={edits.has(pathText(at)) ? edits.get(pathText(at))!.value : valueIn(document, at)}
            isChanged={edits.has(pathText(at))}
            onChange={(value) => edit(at, value)}
          />
        ))}
      </div>
      {apply.error ? <Problem error={apply.error} /> : null}
      <div className="flex-row wrap">
        <ActButton
          needs="configurations.update"
          type="submit"
          className="button primary"
          disabled={edits.size === 0 || apply.isPending}
        >
          <Icon name="rerun" />
          <span>Apply and rerun</span>
        </ActButton>
        <span className="fine mute">
          {edits.size === 0
            ? 'Change a value here, and it is saved and run at once.'
            : `Saves ${plural(edits.size, 'value')} as a new version${where.in === 'row' ? ' of the row' : ''} and runs it.`}
        </span>
      </div>
    </form>
  )
}

/** The value of the version of the last good run at this place, where it differs from now. */
function useGoodValues(job: Job, cause: Cause, where: Where, path: Path, document: unknown): readonly Edit[] {
  const version = cause.since?.isConfigurationChanged ? cause.since.configVersion : undefined
  const of =
    version !== undefined && job.config !== null
      ? { componentId: job.component, configurationId: job.config, versionId: version }
      : undefined
  const { data } = useLoad('configurations.version', of && { path: of })
  if (!data) return []
  const good = data as unknown as { configuration: unknown; rows?: readonly { id: string; configuration: unknown }[] }
  const then = where.in === 'row' ? good.rows?.find(({ id }) => id === where.rowId)?.configuration : good.configuration
  const isNear = (at: Path) => path.every((key, index) => index >= at.length || String(at[index]) === String(key))
  const changes = changesBetween(document, then).filter((change) => isNear(change.path))
  return changes.slice(0, 5).map(({ path: at, after }) => ({ path: at, value: after }))
}

function brief(path: Path, value: unknown): string {
  if (value === undefined) return 'not there'
  if (isBelowSecret(path)) return 'another secret'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

const LONG = 40

function RepairField({
  path,
  value,
  isChanged,
  onChange,
}: {
  path: Path
  value: unknown
  isChanged: boolean
  onChange: (value: unknown) => void
}) {
  const id = useId()
  const name = String(path.at(-1))
  const label = pathText(path)
  const shown = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const [typed, setTyped] = useState<string>()
  const text = typed ?? shown
  const put = (next: string) => {
    setTyped(next)
    onChange(typeof value === 'string' ? next : typedValue(next))
  }
  const isLong = text.length > LONG || text.includes('\n')
  return (
    <div className={`field ${isChanged ? 'changed' : ''} ${isLong ? 'span-2' : ''}`}>
      <label htmlFor={id} className="identifier">
        {label}
      </label>
      {name.startsWith('#') ? (
        <SecretInput id={id} name={name} label={label} value={value} onChange={onChange} />
      ) : isLong ? (
        <textarea
          className="input mono json-field"
          id={id}
          rows={5}
          spellCheck={false}
          value={text}
          onChange={(event) => put(event.target.value)}
        />
      ) : (
        <input className="input mono" id={id} value={text} onChange={(event) => put(event.target.value)} />
      )}
    </div>
  )
}
