// Somebody saved meanwhile: what fits together is merged already, and one decision at a time is asked.

import { useState } from 'react'
import { type MergeStep, merged, mergeSteps } from '../document/changes.ts'
import { parsed, pathText, pretty } from '../document/json-text.ts'
import { moment, plural } from '../format.ts'
import { Icon } from '../parts/icon.tsx'
import { Status } from '../parts/status.tsx'
import { type OpenDocument, ROOT } from './configuration-documents.ts'
import type { LoadedConfiguration } from './use-configuration.ts'

interface Row {
  readonly id: string
  readonly document: OpenDocument
  readonly step: MergeStep
}

export function Conflict({
  loaded,
  documents,
  onBack,
}: {
  loaded: LoadedConfiguration
  documents: readonly OpenDocument[]
  onBack: () => void
}) {
  const [mine, setMine] = useState<ReadonlySet<string>>(new Set())
  const savedOf = (key: string) => (key === ROOT ? loaded.root : loaded.rows.get(key)!)
  const behind = documents.filter(({ draft }) => draft.isBehind)
  const stepsOf = ({ key, draft }: OpenDocument) =>
    mergeSteps(parsed(draft.base.text), parsed(savedOf(key).text), parsed(draft.text))
  const rows: readonly Row[] = behind
    .flatMap((document) => stepsOf(document).map((step) => ({ id: `${document.key} ${pathText(step.path)}`, document, step })))
    .toSorted((a, b) => Number(b.step.isConflict) - Number(a.step.isConflict))
  const conflicts = rows.filter(({ step }) => step.isConflict)
  const { creatorToken, changeDescription } = loaded.configuration.currentVersion
  const who = creatorToken.description
  const choose = (id: string, isMine: boolean) =>
    setMine((before) => {
      const next = new Set(before)
      if (isMine) next.add(id)
      else next.delete(id)
      return next
    })
  const accept = () => {
    for (const document of behind) {
      const saved = savedOf(document.key)
      const text = merged(saved.text, document.draft.text, stepsOf(document), ({ path }) =>
        mine.has(`${document.key} ${pathText(path)}`),
      )
      document.draft.rebase(saved, pretty(text))
    }
    onBack()
  }
  return (
    <div className="conflict stack4">
      <div className="row wrap top">
        <div className="grow">
          <h2 className="say">
            {who} saved version {loaded.configuration.version} while you were editing.{' '}
            {conflicts.length === 0
              ? 'Everything fits together.'
              : `${plural(conflicts.length, 'value')} ${conflicts.length === 1 ? 'needs' : 'need'} your decision.`}
          </h2>
          <p className="sub">
            {plural(rows.length - conflicts.length, 'change')} {rows.length - conflicts.length === 1 ? 'fits' : 'fit'} together
            and {rows.length - conflicts.length === 1 ? 'is' : 'are'} merged already. Nothing is saved until you say so.
          </p>
        </div>
        <button type="button" className="btn ghost" onClick={onBack}>
          Back to editing
        </button>
        <button type="button" className="btn pri" onClick={accept}>
          Go on from version {loaded.configuration.version}
        </button>
      </div>
      <div className="m3">
        <div className="hd">Before, version {behind[0]?.draft.base.version}</div>
        <div className="hd">
          {who}, version {loaded.configuration.version}, {moment(loaded.configuration.currentVersion.created)}
        </div>
        <div className="hd">Yours, not saved</div>
        {rows.map(({ id, document, step }) => (
          <Decision
            key={id}
            document={document}
            step={step}
            isMine={mine.has(id)}
            why={changeDescription}
            who={who}
            onChoose={(isMine) => choose(id, isMine)}
          />
        ))}
      </div>
    </div>
  )
}

function Decision({
  document,
  step,
  isMine,
  who,
  why,
  onChoose,
}: {
  document: OpenDocument
  step: MergeStep
  isMine: boolean
  who: string
  why: string
  onChoose: (isMine: boolean) => void
}) {
  const place = document.key === ROOT ? 'root' : `row ${document.name}`
  return (
    <>
      <div className="path">
        {step.isConflict ? <Status status="error" badge text="Decide" /> : <Status status="success" badge text="Merged" />}
        <span className="id">{pathText(step.path)}</span>
        <span className="xs mute push">{place}</span>
      </div>
      <Side label="Before" value={step.before} />
      <Side
        label={who}
        value={step.theirs}
        isPicked={step.isConflict && !isMine}
        note={step.isConflict ? why : undefined}
        onTake={step.isConflict && isMine ? () => onChoose(false) : undefined}
        take={`Take that of ${who}`}
      />
      <Side
        label="Yours"
        value={step.mine}
        isPicked={step.isConflict && isMine}
        onTake={step.isConflict && !isMine ? () => onChoose(true) : undefined}
        take="Take mine"
      />
    </>
  )
}

const Side = ({
  label,
  value,
  isPicked = false,
  note,
  take,
  onTake,
}: {
  label: string
  value: unknown
  isPicked?: boolean
  note?: string | undefined
  take?: string
  onTake?: (() => void) | undefined
}) => (
  <div data-l={label} className={isPicked ? 'pick' : value === undefined ? 'mute' : ''}>
    <div className="row">
      {value === undefined ? <span>not set</span> : <code>{JSON.stringify(value)}</code>}
      <span className="push">
        {isPicked ? (
          <span className="st run xs">
            <Icon name="check" size="sm" />
            taken
          </span>
        ) : null}
        {onTake ? (
          <button type="button" className="btn sm" onClick={onTake}>
            {take}
          </button>
        ) : null}
      </span>
    </div>
    {note ? <p className="xs mute">“{note}”</p> : null}
  </div>
)
