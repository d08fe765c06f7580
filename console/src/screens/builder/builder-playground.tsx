// The function playground: an expression and its value, with the attributes of the configuration and real answers as its context.

import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { CONFIG } from '../../builder/extractor-document.ts'
import { isRecord, parsed, setAt, valueIn } from '../../document/json-text.ts'
import { Drawer } from '../../parts/drawer.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { extractorAction, type Walk } from './builder-live.tsx'

const EXAMPLES: readonly (readonly [string, unknown])[] = [
  ['A token in a header', { function: 'concat', args: ['Bearer ', { attr: '#token' }] }],
  ['The day of the last good run', { function: 'date', args: ['Y-m-d', { time: 'previousStart' }] }],
  ['Yesterday', { function: 'date', args: ['Y-m-d', { function: 'strtotime', args: ['-1 day'] }] }],
  ['A signature', { function: 'hash_hmac', args: ['sha256', { function: 'time', args: [] }, { attr: '#secret' }] }],
  [
    'User and password',
    { function: 'base64_encode', args: [{ function: 'concat', args: ['user', ':', { attr: '#password' }] }] },
  ],
]

export function Playground({ effective, walk, onClose }: { effective: string; walk: Walk | undefined; onClose: () => void }) {
  const ids = [useId(), useId(), useId()] as const
  const [text, setText] = useState(JSON.stringify(EXAMPLES[1]![1], null, 2))
  const answers = (walk?.steps ?? []).map((step, index) => ({
    key: String(index),
    name: step.kind === 'login' ? 'the answer of the login' : `the answer of page ${step.page ?? index}`,
    body: parsed(step.response.body),
  }))
  const [chosen, setChosen] = useState('0')
  const [lastRun, setLastRun] = useState('')
  const expression = parsed(text)
  const response = answers.find(({ key }) => key === chosen)?.body
  const evaluate = useMutation({
    mutationFn: async () => {
      const seconds = Math.floor(Date.now() / 1000)
      const previousStart = lastRun === '' ? 0 : Math.floor(new Date(lastRun).getTime() / 1000)
      let asked = setAt(effective, ['parameters', 'expression'], expression)
      asked = setAt(asked, ['parameters', 'time'], { previousStart, currentStart: seconds })
      if (response !== undefined) asked = setAt(asked, ['parameters', 'response'], response)
      return ((await extractorAction('evaluate', asked)) as { result: unknown }).result
    },
  })
  const attributes = valueIn(parsed(effective), CONFIG)
  const names = isRecord(attributes) ? Object.entries(attributes).filter(([, value]) => typeof value !== 'object') : []
  return (
    <Drawer title="Try a function" onClose={onClose}>
      <div className="flex-row wrap">
        {EXAMPLES.map(([name, example]) => (
          <button key={name} type="button" className="chip" onClick={() => setText(JSON.stringify(example, null, 2))}>
            {name}
          </button>
        ))}
      </div>
      <div className="field">
        <Label htmlFor={ids[0]}>Expression</Label>
        <textarea
          className="input mono json-field"
          id={ids[0]}
          rows={8}
          spellCheck={false}
          aria-invalid={expression === undefined}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <span className="hint">
          {expression === undefined
            ? 'This is not JSON yet.'
            : `It sees ${names.map(([name]) => name).join(', ') || 'no attributes'}.`}
        </span>
      </div>
      <div className="two-fields">
        <div className="field">
          <Label htmlFor={ids[1]}>Last good run</Label>
          <input
            className="input"
            id={ids[1]}
            type="datetime-local"
            value={lastRun}
            onChange={(event) => setLastRun(event.target.value)}
          />
          <span className="hint">{lastRun === '' ? 'As in the first run.' : 'What previousStart is.'}</span>
        </div>
        <div className="field">
          <Label htmlFor={ids[2]}>Response</Label>
          <select className="input" id={ids[2]} value={chosen} onChange={(event) => setChosen(event.target.value)}>
            {answers.length === 0 ? <option value="0">fetch a page to have one</option> : null}
            {answers.map(({ key, name }) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </select>
        </div>
      </div>
      <div className="flex-row">
        <button
          type="button"
          className="button primary"
          disabled={expression === undefined || evaluate.isPending}
          onClick={() => evaluate.mutate()}
        >
          <Icon name="play" />
          <span>Evaluate</span>
        </button>
      </div>
      {evaluate.error ? <Problem error={evaluate.error} /> : null}
      {evaluate.data === undefined ? null : (
        <output className="code sunken wrap block" aria-label="Value">
          {JSON.stringify(evaluate.data, null, 2)}
        </output>
      )}
    </Drawer>
  )
}
