// The editor of a configuration: its rows, a form or JSON, and what will really run. All three show one text.

import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { changesBetween } from '../../document/changes.ts'
import type { DraftStore } from '../../document/draft.ts'
import { parsed } from '../../document/json-text.ts'
import { problemsOf, type Schema } from '../../document/schema.ts'
import { EffectiveView, type Origin } from '../../editor/effective-view.tsx'
import { LazyJsonEditor } from '../../editor/lazy.ts'
import { canShow, SchemaForm } from '../../editor/schema-form.tsx'
import { ViewSwitch } from '../../editor/view-switch.tsx'
import { useConnectorSchemas } from '../../facts/connectors.ts'
import { helpFor } from '../../facts/field-help.ts'
import { useCatalogue } from '../../facts/names.ts'
import { useTableIds } from '../../facts/storage-names.ts'
import { type ConfigurationPlace, type LoadedConfiguration, useSchemas } from '../../facts/use-configuration.ts'
import { plural } from '../../format.ts'
import { Lines } from '../../load.tsx'
import { Editable } from '../../parts/editable.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useKey } from '../../use-key.ts'
import { useConflict } from '../../views/configuration-conflict.tsx'
import { documentsOf, type OpenDocument, ROOT, useLeaveGuard, useRun, useSave } from '../../views/configuration-documents.ts'
import { SourceChanges } from '../../views/source-changes.tsx'
import { ComponentActions } from './component-actions.tsx'
import { MappingForm } from './configuration-mapping.tsx'
import { RowsPane } from './configuration-rows.tsx'
import { DeliveryPreview } from './deliveries/delivery-preview.tsx'
import { TransformationPanes, textToTry } from './transformation/transformation.tsx'
import { useDryRun, useIsScript } from './transformation/use-trial.ts'
import './configuration.css'

const route = getRouteApi('/components/$componentId/$configurationId')

interface EditorProps {
  readonly place: ConfigurationPlace
  readonly loaded: LoadedConfiguration
  readonly drafts: DraftStore
  /** Tables in and out, or the script of a SQL transformation, in the place of form and JSON. */
  readonly mode: 'edit' | 'tables' | 'sql'
}

export function ConfigurationEditor({ place, loaded, drafts, mode }: EditorProps) {
  const isMapping = mode === 'tables'
  const { row, view = 'form' } = route.useSearch()
  const navigate = useNavigate()
  const documents = documentsOf(loaded, drafts)
  const current = documents.find(({ key }) => key === row) ?? documents[0]!
  const root = documents[0]!
  const { schemas, streams } = useConnectorSchemas(place.componentId, root.draft.text, useSchemas(place.componentId))
  const schema = current.key === ROOT ? schemas.root : schemas.row
  const save = useSave(place, documents)
  const run = useRun(place)
  const [why, setWhy] = useState('')
  const isScript = useIsScript(place.componentId) ?? false
  const check = useDryRun(place.componentId)
  /** A script is tried without rows before it is saved; its findings are shown, and can be ignored. */
  const checked = (andThen: () => void) => (isScript ? check.mutate(textToTry(root, current), { onSuccess: andThen }) : andThen())
  const changed = documents.filter(({ draft }) => draft.isChanged)
  useLeaveGuard(changed.length > 0)
  const conflict = useConflict({ loaded, documents, save, why, onSaved: () => setWhy('') })
  if (conflict.screen) return conflict.screen
  const isForm = view === 'form' && canShow(schema, current.draft.text)
  const show = (next: string) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, tab: 'edit', view: next }), replace: true })
  const isReadable = parsed(current.draft.text) !== undefined
  const rowOf = (text: (document: OpenDocument) => string) => (current.key === ROOT ? undefined : text(current))
  return (
    <>
      {conflict.note}
      {mode === 'sql' ? (
        <TransformationPanes key={current.key} place={place} root={root} current={current} check={check} />
      ) : (
        <div className="panes editor-panes">
          <RowsPane place={place} loaded={loaded} documents={documents} current={current.key} />
          <section aria-label={`${current.name} of the configuration`}>
            <div className="pane-header">
              {isMapping ? (
                <h2 className="heading">Tables of {current.key === ROOT ? 'the root' : current.name}</h2>
              ) : (
                <ViewSwitch view={isForm ? 'form' : 'json'} canShowForm={canShow(schema, current.draft.text)} onChange={show} />
              )}
              <Validity
                text={current.draft.text}
                schema={schema}
                isPart={current.key !== ROOT || loaded.configuration.rows.length > 0}
              />
            </div>
            {current.key === ROOT && !isMapping ? <ComponentActions place={place} loaded={loaded} draft={root.draft} /> : null}
            {isMapping || (current.key === ROOT && loaded.configuration.rows.length > 0) ? null : (
              <DeliveryPreview
                key={`delivery ${current.key}`}
                componentId={place.componentId}
                configurationId={place.configurationId}
                rowId={rowOf(({ key }) => key)}
                root={root.draft.text}
                row={rowOf(({ draft }) => draft.text)}
              />
            )}
            {isMapping || (current.key === ROOT && loaded.configuration.rows.length > 0) ? null : (
              <SourceChanges
                key={current.key}
                componentId={place.componentId}
                configurationId={place.configurationId}
                root={root.draft.text}
                row={rowOf(({ draft }) => draft.text)}
              />
            )}
            {isMapping && isReadable ? (
              <MappingForm
                key={current.key}
                document={current}
                inherited={current.key === ROOT ? undefined : parsed(root.draft.text)}
                onOpenJson={() => show('json')}
              />
            ) : isForm ? (
              <Form
                componentId={place.componentId}
                document={current}
                streams={streams}
                schema={schema!}
                inherited={current.key === ROOT ? undefined : parsed(root.draft.text)}
                onOpenJson={() => show('json')}
              />
            ) : (
              <Suspense fallback={<Lines count={8} />}>
                <LazyJsonEditor
                  key={current.key}
                  label="Configuration as JSON"
                  text={current.draft.text}
                  onChange={current.draft.edit}
                  schema={schema}
                  isPart={current.key !== ROOT || loaded.configuration.rows.length > 0}
                />
              </Suspense>
            )}
          </section>
          <section aria-label="What will really run">
            <EffectiveView
              draft={{ root: root.draft.text, row: rowOf(({ draft }) => draft.text) }}
              saved={{ root: loaded.root.text, row: rowOf(({ key }) => loaded.rows.get(key)!.text) }}
              rowName={rowOf(({ name }) => name)}
              schema={schemas.root}
              onOpen={(origin) =>
                void (origin === 'vault' ? navigate({ to: '/vault' }) : navigate({ to: '.', search: searchOf(origin, row) }))
              }
            />
          </section>
        </div>
      )}
      {save.error ? <Problem error={save.error} /> : null}
      {check.error && mode !== 'sql' ? <Problem error={check.error} /> : null}
      {run.error ? <Problem error={run.error} /> : null}
      {changed.length > 0 ? (
        <SaveBar
          changed={changed}
          rowCount={loaded.configuration.rows.filter(({ isDisabled }) => !isDisabled).length}
          isBusy={save.isPending || check.isPending}
          isRefused={isScript && check.error !== null}
          why={why}
          onWhy={setWhy}
          onSave={() => checked(() => save.mutate({ why }, { onSuccess: () => setWhy('') }))}
          onSaveAnyway={() => save.mutate({ why }, { onSuccess: () => setWhy('') })}
          onSaveAndRun={() => checked(() => save.mutate({ why }, { onSuccess: () => run.mutate(undefined) }))}
        />
      ) : null}
    </>
  )
}

/** The address of what a value of the effective configuration comes from. */
const searchOf = (origin: Origin, row: string | undefined) => (before: object) =>
  origin === 'variable' ? { ...before, tab: 'variables' } : { ...before, tab: 'edit', row: origin === 'row' ? row : undefined }

function Validity({ text, schema, isPart }: { text: string; schema: Schema | undefined; isPart: boolean }) {
  const value = parsed(text)
  const problems = value !== undefined && schema ? problemsOf(value, schema, { root: schema }, isPart) : []
  if (value === undefined)
    return (
      <span className="push fine failed status" role="alert">
        <Icon name="st-err" size="small" />
        This is not JSON yet
      </span>
    )
  if (problems.length > 0)
    return (
      <span className="push fine warn status clip" title={problems[0]!.message}>
        <Icon name="st-warn" size="small" />
        {problems.length === 1 ? problems[0]!.message : plural(problems.length, 'mark')}
      </span>
    )
  return (
    <span className="push fine mute flex-row gap-1">
      <Icon name="check" size="small" />
      valid
    </span>
  )
}

function Form({
  componentId,
  document,
  schema,
  streams,
  inherited,
  onOpenJson,
}: {
  componentId: string
  streams: readonly string[]
  document: OpenDocument
  schema: Schema
  inherited: unknown
  onOpenJson: () => void
}) {
  const processors = useCatalogue().filter(({ type }) => type === 'processor')
  const [typed, setTyped] = useState<string>()
  const tables = useTableIds(typed ?? '', { enabled: typed !== undefined })
  const suggestions = (format: string): readonly string[] => {
    if (format === 'table-id') return tables
    if (format === 'stream-name') return streams
    return format === 'processor-id' ? processors.map(({ id }) => id) : []
  }
  return (
    <form className="form" onSubmit={(event) => event.preventDefault()}>
      <Editable needs="configurations.update">
        <SchemaForm
          key={document.key}
          schema={schema}
          text={document.draft.text}
          onChange={document.draft.edit}
          inherited={inherited}
          saved={parsed(document.draft.base.text)}
          suggestions={suggestions}
          onType={(format, text) => (format === 'table-id' ? setTyped(text) : undefined)}
          onOpenJson={onOpenJson}
          helpFor={(path) => helpFor(componentId, path)}
        />
      </Editable>
    </form>
  )
}

function SaveBar({
  changed,
  rowCount,
  isBusy,
  isRefused,
  why,
  onWhy,
  onSave,
  onSaveAnyway,
  onSaveAndRun,
}: {
  changed: readonly OpenDocument[]
  rowCount: number
  isBusy: boolean
  /** The dry run found a mistake. */
  isRefused: boolean
  why: string
  onWhy: (why: string) => void
  onSave: () => void
  onSaveAnyway: () => void
  onSaveAndRun: () => void
}) {
  const isReadable = changed.every(({ draft }) => parsed(draft.text) !== undefined)
  const counts = changed.map(({ name, draft }) => ({
    name,
    count: changesBetween(parsed(draft.base.text), parsed(draft.text)).length,
  }))
  const changesText = counts
    .map(({ name, count }) => `${plural(count, 'change')} in ${name === 'Root' ? 'root' : name}`)
    .join(', ')
  const touchesAll = changed.some(({ key }) => key === ROOT) && rowCount > 0
  const canSave = isReadable && !isBusy
  useKey('Ctrl s', 'Save', () => (canSave ? onSave() : undefined))
  return (
    <section className="save" aria-label="Unsaved changes">
      <span className="status running">
        <Icon name="edit" />
        <span>{isReadable ? changesText : 'The JSON cannot be read yet'}</span>
      </span>
      {touchesAll ? <span className="fine mute hide-medium">affects {plural(rowCount, 'row')} that run</span> : null}
      <input
        className="input grow hide-small"
        aria-label="Why this change"
        placeholder="Why this change"
        value={why}
        onChange={(event) => onWhy(event.target.value)}
      />
      <span className="push" />
      <button type="button" className="button ghost" onClick={() => changed.map(({ draft }) => draft.discard())}>
        Discard
      </button>
      {isRefused ? (
        <>
          <span className="status warn">
            <Icon name="st-warn" size="small" />
            <span>A run would fail as it is.</span>
          </span>
          <button type="button" className="button ghost" disabled={!canSave} onClick={onSaveAnyway}>
            Save anyway
          </button>
        </>
      ) : null}
      <button type="button" className="button" disabled={!canSave} onClick={onSave}>
        <span>Save</span>
        <kbd>Ctrl S</kbd>
      </button>
      <button type="button" className="button primary" disabled={!canSave} onClick={onSaveAndRun}>
        <Icon name="play" />
        <span>Save and run</span>
      </button>
    </section>
  )
}
