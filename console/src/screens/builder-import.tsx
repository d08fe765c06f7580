// A configuration from what people have at hand: a curl command, an OpenAPI document, a recording of a browser.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isRecord, parsed, pretty, setAt } from '../document/json-text.ts'
import { plural } from '../format.ts'
import { Dialog } from '../parts/drawer.tsx'
import { Form } from '../parts/form.tsx'
import { Label } from '../parts/guide.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import { toast } from '../shell/toast.tsx'
import { runAction } from './builder-live.tsx'
import type { OpenDocument } from './configuration-documents.ts'
import type { ConfigurationPlace } from './use-configuration.ts'

interface Imported {
  readonly api?: unknown
  readonly config?: unknown
  readonly parameters?: unknown
  readonly rows?: readonly { readonly name?: string; readonly parameters?: unknown }[]
  readonly notes?: readonly string[]
}

/** What the text is, by its beginning. */
function actionFor(text: string): readonly [string, object] {
  if (/^\s*curl\b/.test(text)) return ['curlToConfig', { curl: text }]
  const value = parsed(text)
  return isRecord(value) && isRecord(value.log) ? ['harToConfig', { har: value }] : ['openapiToConfig', { openapi: text }]
}

export function ImportButton({ place, root }: { place: ConfigurationPlace; root: OpenDocument }) {
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  const read = useMutation({
    mutationFn: async () => {
      const [action, parameters] = actionFor(text)
      const found = (await runAction(action, JSON.stringify({ parameters }))) as Imported
      const parameterValues = found.parameters ?? { api: found.api, config: found.config }
      for (const row of found.rows ?? [])
        await api.call('rows.create', {
          path: place,
          body: { name: row.name ?? 'Imported', configuration: { parameters: row.parameters } },
        })
      root.draft.edit(pretty(setAt(root.draft.text, ['parameters'], parameterValues)))
      return found
    },
    onSuccess: async ({ rows = [] }) => {
      await queries.invalidateQueries({ queryKey: ['configurations.get'] })
      setOpen(false)
      toast(
        rows.length > 0
          ? `Read, with ${plural(rows.length, 'row')}. The rest is not saved yet.`
          : 'Read into the steps. Not saved yet.',
      )
    },
  })
  return (
    <>
      <button type="button" className="btn sm push" onClick={() => setOpen(true)}>
        <Icon name="wand" size="sm" />
        <span>Import</span>
      </button>
      {isOpen ? (
        <Dialog title="Import" onClose={() => setOpen(false)}>
          <Form onSubmit={() => read.mutate()}>
            <div className="field">
              <Label htmlFor="import-text">A curl command, an OpenAPI document or a HAR recording</Label>
              <textarea
                className="input mono json-field"
                id="import-text"
                rows={10}
                spellCheck={false}
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
              <span className="hint">It replaces what the steps say. Credentials become encrypted values.</span>
            </div>
            {read.error ? <Problem error={read.error} /> : null}
            <div className="row">
              <button type="button" className="btn push" onClick={() => setOpen(false)}>
                Close
              </button>
              <button type="submit" className="btn pri" disabled={text.trim() === '' || read.isPending}>
                Read it into the steps
              </button>
            </div>
          </Form>
        </Dialog>
      ) : null}
    </>
  )
}
