// How pages follow each other, with a picture of the first requests.

import { useId, useState } from 'react'
import {
  API,
  jobPath,
  PAGES,
  pagesPath,
  pictureOf,
  textAt,
  withPages,
  withSeveralPages,
} from '../../../builder/extractor-document.ts'
import { isRecord, parsed, valueIn } from '../../../document/json-text.ts'
import { Label } from '../../../parts/guide.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { FromAnswer, type Suggested } from './from-answer.tsx'
import { chosenIn, FromSchema } from './from-schema.tsx'
import { edit, editBoth, type StepProps } from './step.ts'
import { Kinds } from './step-fields.tsx'
import '../builder.css'

export function PagesStep(props: StepProps) {
  const { root, index } = props
  const document = parsed(root.draft.text)
  const path = pagesPath(props.document, index)
  const settings = valueIn(document, path)
  const method = textAt(settings, ['method']) || 'none'
  const choose = (id: string) => {
    if (id === method) return
    root.draft.edit(withPages(root.draft.text, path, id, { saved: root.draft.base.text, knownTo }))
  }
  const knownTo = (kind: string) => Object.keys(chosenIn(props.schema, 'pagination', { method: kind })?.properties ?? {})
  return (
    <>
      <Suggestion {...props} />
      <Scrollers {...props} />
      <Kinds label="How pages follow each other" kinds={PAGES} current={method} onChoose={choose} />
      <PicturedPages settings={settings} />
      {method === 'none' ? null : <FromSchema {...props} base={path} definition="pagination" />}
    </>
  )
}

/** Requests of one API may page in different ways: each way has a name, and a request picks one. */
function Scrollers({ root, current, index, document }: StepProps) {
  const pagination = valueIn(parsed(root.draft.text), [...API, 'pagination'])
  const id = useId()
  const [name, setName] = useState('')
  if (!isRecord(pagination)) return null
  if (pagination.method !== 'multiple')
    return (
      <button type="button" className="button small ghost" onClick={() => root.draft.edit(withSeveralPages(root.draft.text))}>
        <Icon name="plus" size="small" />
        <span>Requests page in different ways</span>
      </button>
    )
  const names = Object.keys(isRecord(pagination.scrollers) ? pagination.scrollers : {})
  const usual = typeof pagination.default === 'string' ? pagination.default : ''
  const picked = textAt(document, [...jobPath(index), 'scroller'])
  return (
    <div className="two-fields">
      <div className="field">
        <Label htmlFor={id}>Way of this request</Label>
        <select
          className="input"
          id={id}
          value={picked}
          onChange={(event) => edit(current, [[[...jobPath(index), 'scroller'], event.target.value || undefined]])}
        >
          <option value="">{usual ? `${usual}, the usual one` : 'one page only'}</option>
          {names.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <div className="field">
        <Label htmlFor={`${id} new`}>Another way</Label>
        <span className="flex-row">
          <input
            className="input mono"
            id={`${id} new`}
            placeholder="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <button
            type="button"
            className="button small"
            disabled={name === '' || names.includes(name)}
            onClick={() => {
              editBoth(
                { root, current },
                [[[...API, 'pagination', 'scrollers', name], { method: 'offset' }]],
                [[[...jobPath(index), 'scroller'], name]],
              )
              setName('')
            }}
          >
            Add
          </button>
        </span>
      </div>
    </div>
  )
}

function PicturedPages({ settings }: { settings: unknown }) {
  const picture = pictureOf(settings)
  if (!picture) return null
  const { sent, values, between, end } = picture
  return (
    <div>
      <p className="label">What it will do</p>
      <div
        className="page-picture"
        role="img"
        aria-label={`Three requests: ${sent} is ${values.map((value) => value || 'not sent').join(', then ')}. It ends at: ${end}.`}
      >
        {values.map((value, at) => (
          <span key={value || 'first'} className="contents">
            <span className="page-box">
              {sent}
              <br />
              <b>{value || 'none'}</b>
            </span>
            <span className="page-arrow">{at < values.length - 1 ? between : end}</span>
          </span>
        ))}
        <span className="page-end">
          <Icon name="stop" />
          end
        </span>
      </div>
    </div>
  )
}

/** What the real answer shows about pages and items. */
function Suggestion({ root, current, index, effective, document }: StepProps) {
  const fieldPath = [...jobPath(index), 'dataField']
  /** A list that is not where the configuration looks for it. Nothing looks at all: the only list is found anyway. */
  const isOther = (field: unknown) => typeof field === 'string' && field !== '.' && field !== textAt(document, fieldPath)
  const apply = ({ pagination, dataField }: Suggested) => {
    editBoth(
      { root, current },
      isRecord(pagination.value) ? [[pagesPath(document, index), pagination.value]] : [],
      isOther(dataField.value) ? [[fieldPath, dataField.value]] : [],
    )
  }
  return (
    <FromAnswer
      effective={effective}
      index={index}
      reasons={({ pagination, dataField }) => [pagination.reason, dataField.reason]}
      use={(found) => (isRecord(found.pagination.value) || isOther(found.dataField.value) ? () => apply(found) : undefined)}
    />
  )
}
