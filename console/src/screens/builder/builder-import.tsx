// A configuration from what people have at hand: a curl command, an OpenAPI document, a recording of a browser.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { keptPaths } from '../../builder/extractor-document.ts'
import { isRecord, parsed, pretty, setAt, valueIn } from '../../document/json-text.ts'
import type { ConfigurationPlace } from '../../facts/use-configuration.ts'
import { plural } from '../../format.ts'
import { Dialog } from '../../parts/drawer.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import type { OpenDocument } from '../../views/configuration-documents.ts'
import { runAction } from './builder-live.tsx'
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
  const value = parsed(text)
  return isRecord(value) && isRecord(value.log) ? ['harToConfig', { har: value }] : ['openapiToConfig', { openapi: text }]
}

/** What the steps do not show outlives an import, wherever the import says nothing about it. */
function withKept(before: string, after: string): string {
  const [was, now] = [parsed(before), parsed(after)]
  return keptPaths(was)
    .filter((path) => valueIn(now, path) === undefined)
    .reduce((text, path) => setAt(text, path, valueIn(was, path)), after)
}

export function ImportButton({ place, root }: { place: ConfigurationPlace; root: OpenDocument }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  const read = useMutation({
    mutationFn: async () => {
      const [action, parameters] = actionFor(text)
      const found = (await runAction(action, JSON.stringify({ parameters }))) as Imported
      const made: string[] = []
      for (const row of found.rows ?? []) {
        const body = { name: row.name ?? 'Imported', configuration: row.configuration }
        made.push((await api.call('rows.create', { path: place, body })).id)
      }
      const values = found.parameters ?? { api: found.api, config: found.config }
      root.draft.edit(pretty(withKept(root.draft.text, setAt(root.draft.text, ['parameters'], values))))
      return { made, notes: found.notes ?? [] }
    },
    onSuccess: async ({ made, notes }) => {
      await queries.invalidateQueries({ queryKey: ['configurations.get'] })
      setOpen(notes.length > 0)
      setText('')
      toast(
        made.length > 0
          ? `Read, with ${plural(made.length, 'row')}. The rest is not saved yet.`
          : 'Read into the steps. Not saved yet.',
      )
      const search = { row: made[0], job: undefined, step: 'request' }
      if (made.length > 0) void navigate({ to: '.', search: (before: object) => ({ ...before, ...search }), replace: true })
    },
  })
  const notes = read.data?.notes ?? []
  const close = () => setOpen(false)
  const open = () => {
    read.reset()
    setOpen(true)
  }
  return (
    <>
      <button type="button" className="button small push" onClick={open}>
        <Icon name="wand" size="small" />
        <span>Import</span>
      </button>
      {isOpen ? (
        <Dialog title={read.isSuccess ? 'Read into the steps' : 'Import'} onClose={close}>
          {read.isSuccess ? (
            <div className="inset stack-4">
              <p>Look at these before it is saved:</p>
              <ul className="bullets">
                {notes.map((note) => (
                  <li key={note}>{note}</li>
                ))}
              </ul>
              <div className="flex-row">
                <button type="button" className="button primary push" onClick={close}>
                  Continue
                </button>
              </div>
            </div>
          ) : (
            <Form onSubmit={() => read.mutate()}>
              <Field
                label="A curl command, an OpenAPI document or a HAR recording"
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
                <button type="button" className="button push" onClick={close}>
                  Close
                </button>
                <button type="submit" className="button primary" disabled={text.trim() === '' || read.isPending}>
                  Read it into the steps
                </button>
              </div>
            </Form>
          )}
        </Dialog>
      ) : null}
    </>
  )
}
