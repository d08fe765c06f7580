// One value changed in several rows at once. The rows show it as not saved, and are saved like any other change.

import { useId, useState } from 'react'
import { isBelowSecret, leavesOf, parsed, pathText, putAt, valueIn } from '../../document/json-text.ts'
import { typedText } from '../../document/schema.ts'
import { plural } from '../../format.ts'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import type { OpenDocument } from '../../views/configuration-documents.ts'

export function EditRows({ rows, onClose }: { rows: readonly OpenDocument[]; onClose: () => void }) {
  const ids = [useId(), useId()] as const
  const places = new Map(
    rows.flatMap(({ draft }) =>
      leavesOf(draft.text)
        .filter(({ path }) => !isBelowSecret(path))
        .map(({ path }) => [pathText(path), path] as const),
    ),
  )
  const [chosen, setChosen] = useState('')
  const [text, setText] = useState('')
  const path = places.get(chosen) ?? [...places.values()][0]
  const now = path ? [...new Set(rows.map(({ draft }) => JSON.stringify(valueIn(parsed(draft.text), path)) ?? 'not set'))] : []
  const apply = () => {
    if (!path) return
    for (const { draft } of rows) draft.edit(putAt(draft.text, path, typedText(text, {})))
    onClose()
  }
  return (
    <Dialog title={`Change ${plural(rows.length, 'row')}`} onClose={onClose}>
      <Form onSubmit={apply}>
        <div className="field">
          <Label htmlFor={ids[0]}>Value</Label>
          <select
            className="input mono"
            id={ids[0]}
            value={path ? pathText(path) : ''}
            onChange={(event) => setChosen(event.target.value)}
          >
            {[...places.keys()].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <span className="hint">Now: {now.join(', ')}</span>
        </div>
        <div className="field">
          <Label htmlFor={ids[1]}>Becomes</Label>
          <input className="input mono" id={ids[1]} value={text} onChange={(event) => setText(event.target.value)} />
          <span className="hint">
            {text === '' ? 'Empty removes it from these rows.' : `In all ${rows.length}. Nothing is saved yet.`}
          </span>
        </div>
        <div className="flex-row">
          <button type="button" className="button push" onClick={onClose}>
            Close
          </button>
          <button type="submit" className="button primary" disabled={!path}>
            Change {plural(rows.length, 'row')}
          </button>
        </div>
      </Form>
    </Dialog>
  )
}
