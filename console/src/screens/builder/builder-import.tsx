// A configuration from what people have at hand: a curl command, an OpenAPI document, a recording of a browser, a connector manifest.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { keptPaths } from '../../builder/extractor-document.ts'
import { isRecord, parsed, pretty, setAt, valueIn } from '../../document/json-text.ts'
import type { ConfigurationPlace } from '../../facts/use-configuration.ts'
import { plural } from '../../format.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import type { OpenDocument } from '../../views/configuration-documents.ts'
import { extractorAction, manifestAction } from './builder-live.tsx'
import './builder.css'

interface Imported {
  readonly api?: unknown
  readonly config?: unknown
  readonly parameters?: unknown
  readonly rows?: readonly { readonly name?: string; readonly configuration: unknown }[]
  readonly notes?: readonly string[]
}

/** What the text is, by its beginning. */
function actionFor(text: string): readonly [string, object] {
  if (/^\s*curl\b/.test(text)) return ['curlToConfig', { curl: text }]
  if (/^\s*(?:["{]?\s*)?"?type"?:\s*"?DeclarativeSource\b/m.test(text)) return ['manifestToConfig', { manifest: text }]
  const value = parsed(text)
  return isRecord(value) && isRecord(value.log) ? ['harToConfig', { har: value }] : ['openapiToConfig', { openapi: text }]
}

/** What the steps do not show outlives an import, wherever the import does not contain it. */
function withKept(before: string, after: string): string {
  const [was, now] = [parsed(before), parsed(after)]
  return keptPaths(was)
    .filter((path) => valueIn(now, path) === undefined)
    .reduce((text, path) => setAt(text, path, valueIn(was, path)), after)
}

interface FoundRow {
  readonly name: string
  readonly configuration: unknown
}

/** What was read from the text, and of its rows those that the configuration already has by name. */
interface Found {
  readonly values: unknown
  readonly rows: readonly FoundRow[]
  readonly existing: readonly string[]
  readonly notes: readonly string[]
}

export function ImportButton({ place, root }: { place: ConfigurationPlace; root: OpenDocument }) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <ActButton needs="rows.create" className="button small push" onClick={() => setOpen(true)}>
        <Icon name="wand" size="small" />
        <span>Import</span>
      </ActButton>
      {isOpen ? <Import place={place} root={root} onClose={close} /> : null}
    </>
  )
}

interface ImportProps {
  readonly place: ConfigurationPlace
  readonly root: OpenDocument
  readonly onClose: () => void
}

/** First the text is read, and nothing changes; then the steps are filled, and the chosen rows are added. */
function Import({ place, root, onClose }: ImportProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const fill = (values: unknown) =>
    root.draft.edit(pretty(withKept(root.draft.text, setAt(root.draft.text, ['parameters'], values))))
  const read = useMutation({
    mutationFn: async (): Promise<Found> => {
      const [action, parameters] = actionFor(text)
      const run = action === 'manifestToConfig' ? manifestAction : extractorAction
      const found = (await run(action, JSON.stringify({ parameters }))) as Imported
      const { rows: own } = await api.call('configurations.get', { path: place })
      const rows = (found.rows ?? []).map(({ name = 'Imported', configuration }) => ({ name, configuration }))
      return {
        values: found.parameters ?? { api: found.api, config: found.config },
        rows,
        existing: rows.map(({ name }) => name).filter((name) => own.some((one) => one.name === name)),
        notes: found.notes ?? [],
      }
    },
    onSuccess: ({ values, rows, notes }) => {
      if (rows.length + notes.length > 0) return // they are looked at first
      fill(values)
      onClose()
      toast('Read into the steps. Not saved yet.')
    },
  })
  const add = useMutation({
    mutationFn: async (rows: readonly FoundRow[]) => {
      const made: string[] = []
      for (const { name, configuration } of rows)
        made.push((await api.call('rows.create', { path: place, body: { name, configuration } })).id)
      return made
    },
    onSuccess: async (made) => {
      const refresh = () => queries.invalidateQueries({ queryKey: ['configurations.get'] })
      fill(read.data!.values)
      await refresh()
      onClose()
      if (made.length === 0) return toast('Read into the steps. Not saved yet.')
      toast(`${plural(made.length, 'row')} added. The steps are filled and not saved yet.`, async () => {
        for (const rowId of made) await api.call('rows.delete', { path: { ...place, rowId } })
        await refresh()
      })
      const search = { row: made[0], job: undefined, step: 'request' }
      void navigate({ to: '.', search: (before: object) => ({ ...before, ...search }), replace: true })
    },
  })
  return (
    <Dialog title={read.data ? 'What was read' : 'Import'} onClose={onClose}>
      {read.data ? (
        <Look found={read.data} isBusy={add.isPending} error={add.error} onAdd={(rows) => add.mutate(rows)} />
      ) : (
        <Form onSubmit={() => read.mutate()}>
          <Field
            label="A curl command, an OpenAPI document, a HAR recording or a connector manifest"
            hint="It replaces the values of the steps. Credentials become encrypted values."
          >
            {(id) => (
              <textarea
                className="input mono json-field"
                id={id}
                rows={10}
                spellCheck={false}
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
            )}
          </Field>
          <Field label="Or a file">
            {(id) => (
              <input
                id={id}
                type="file"
                accept=".har,.json,.yaml,.yml,.txt,.sh"
                onChange={async (event) => setText((await event.target.files?.[0]?.text()) ?? '')}
              />
            )}
          </Field>
          {read.error ? <Problem error={read.error} /> : null}
          <div className="flex-row">
            <button type="button" className="button push" onClick={onClose}>
              Close
            </button>
            <button type="submit" className="button primary" disabled={text.trim() === '' || read.isPending}>
              Read it
            </button>
          </div>
        </Form>
      )}
    </Dialog>
  )
}

interface LookProps {
  readonly found: Found
  readonly isBusy: boolean
  readonly error: Error | null
  readonly onAdd: (rows: readonly FoundRow[]) => void
}

/** Rows that the configuration has already are not added again, unless a person chooses duplicates. */
function Look({ found: { rows, existing, notes }, isBusy, error, onAdd }: LookProps) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(
    () => new Set(rows.flatMap(({ name }, index) => (existing.includes(name) ? [] : [index]))),
  )
  const toggle = (index: number) => {
    const next = new Set(chosen)
    if (!next.delete(index)) next.add(index)
    setChosen(next)
  }
  return (
    <Form onSubmit={() => onAdd(rows.filter((_, index) => chosen.has(index)))}>
      {rows.length > 0 ? (
        <fieldset className="plain stack-2">
          <legend className="label">Rows to add</legend>
          <ul className="stack-2 found-rows">
            {rows.map(({ name }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two rows may have one name
              <li key={index}>
                <label className="check-line">
                  <input type="checkbox" checked={chosen.has(index)} onChange={() => toggle(index)} />
                  {name}
                  {existing.includes(name) ? <span className="fine mute"> a row with this name exists</span> : null}
                </label>
              </li>
            ))}
          </ul>
        </fieldset>
      ) : null}
      {notes.length > 0 ? (
        <>
          <p>Look at these before it is saved:</p>
          <ul className="bullets">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </>
      ) : null}
      {error ? <Problem error={error} /> : null}
      <ActButton needs="rows.create" type="submit" className="button primary" disabled={isBusy}>
        {chosen.size > 0 ? `Fill the steps and add ${plural(chosen.size, 'row')}` : 'Fill the steps'}
      </ActButton>
    </Form>
  )
}
