// Another person saved meanwhile: changes without conflict are already merged, and one decision at a time is requested.

import { type ReactNode, useState } from 'react'
import { isSameDocument, type MergeStep, merged, mergeSteps } from '../document/changes.ts'
import type { Kept } from '../document/draft.ts'
import { parsed, pathText, pretty } from '../document/json-text.ts'
import type { LoadedConfiguration } from '../facts/use-configuration.ts'
import { moment, plural } from '../format.ts'
import { CodeHelp } from '../parts/guide.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { Status } from '../parts/status.tsx'
import { isVersionConflict, type OpenDocument, ROOT, type Save } from './configuration-documents.ts'
import './views.css'

interface Row {
  readonly id: string
  readonly document: OpenDocument
  readonly step: MergeStep
}

interface Editing {
  readonly loaded: LoadedConfiguration
  readonly documents: readonly OpenDocument[]
  readonly save: Save
  /** The description of the change that is to be saved. */
  readonly why: string
  readonly onSaved?: () => void
}

/** `screen`: in the place of the editor, while a save waits for decisions. `note`: above it, when another person has saved meanwhile. */
export function useConflict({ loaded, documents, save, why, onSaved }: Editing): {
  readonly screen: ReactNode
  readonly note: ReactNode
} {
  const [isDeciding, setDeciding] = useState(false)
  if (!documents.some(({ draft }) => draft.isBehind)) return { screen: null, note: null }
  const back = () => {
    save.reset()
    setDeciding(false)
  }
  const accept = (texts: ReadonlyMap<string, Kept>) => {
    setDeciding(true) // also while it is being saved
    const done = () => {
      setDeciding(false)
      onSaved?.()
    }
    save.mutate({ why, merged: texts }, { onSuccess: done })
  }
  if (isDeciding || isVersionConflict(save.error))
    return { screen: <Conflict loaded={loaded} documents={documents} save={save} onBack={back} onSave={accept} />, note: null }
  const { currentVersion, version } = loaded.configuration
  const note = (
    <div className="note warn banner" role="status">
      <Icon name="st-warn" />
      <span className="grow">
        {currentVersion.creatorToken.description} saved version {version} while you were editing.
      </span>
      <button type="button" className="button small" onClick={() => setDeciding(true)}>
        Put both together
      </button>
    </div>
  )
  return { screen: null, note }
}

function Conflict({
  loaded,
  documents,
  save,
  onBack,
  onSave,
}: Pick<Editing, 'loaded' | 'documents' | 'save'> & {
  readonly onBack: () => void
  readonly onSave: (texts: ReadonlyMap<string, Kept>) => void
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
  const texts = new Map(
    behind.map((document) => {
      const base = savedOf(document.key)
      const text = merged(base.text, document.draft.text, stepsOf(document), ({ path }) =>
        mine.has(`${document.key} ${pathText(path)}`),
      )
      return [document.key, { base, text: pretty(text) }]
    }),
  )
  const saves = documents.filter(({ key, draft }) => {
    const { base, text } = texts.get(key) ?? draft
    return draft.isChanged && !isSameDocument(text, base.text)
  })
  return (
    <div className="conflict stack-4">
      <div className="flex-row wrap align-top">
        <div className="grow">
          <h2 className="page-sentence">
            {who} saved version {loaded.configuration.version} while you were editing.{' '}
            {conflicts.length === 0
              ? 'There are no conflicts.'
              : `${plural(conflicts.length, 'value')} ${conflicts.length === 1 ? 'needs' : 'need'} your decision.`}
          </h2>
          <p className="subtitle">
            {plural(rows.length - conflicts.length, 'change')} {rows.length - conflicts.length === 1 ? 'has' : 'have'} no conflict
            and {rows.length - conflicts.length === 1 ? 'is' : 'are'} already merged. Nothing is saved until you save.
          </p>
        </div>
        <button type="button" className="button ghost" onClick={onBack}>
          Back to editing
        </button>
        <button type="button" className="button primary" disabled={save.isPending} onClick={() => onSave(texts)}>
          {saves.length === 0
            ? `Keep version ${loaded.configuration.version}`
            : `Save as version ${loaded.configuration.version + saves.length}`}
        </button>
      </div>
      {save.error && !isVersionConflict(save.error) ? <Problem error={save.error} /> : null}
      <div className="three-versions">
        <div className="layer-head">Before, version {behind[0]?.draft.base.version}</div>
        <div className="layer-head">
          {who}, version {loaded.configuration.version}, {moment(loaded.configuration.currentVersion.created)}
        </div>
        <div className="layer-head">Yours, not saved</div>
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
      {isVersionConflict(save.error) ? (
        <p className="fine mute">
          The server answered <CodeHelp code="storage.components.configurations.versionConflict" />: {save.error?.message}
        </p>
      ) : null}
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
        <span className="identifier">{pathText(step.path)}</span>
        <span className="fine mute push">{place}</span>
      </div>
      <Side label="Before" value={step.before} />
      <Side
        label={who}
        value={step.theirs}
        isPicked={step.isConflict && !isMine}
        note={step.isConflict ? why : undefined}
        onTake={step.isConflict && isMine ? () => onChoose(false) : undefined}
        take={`Use the value of ${who}`}
      />
      <Side
        label="Yours"
        value={step.mine}
        isPicked={step.isConflict && isMine}
        onTake={step.isConflict && !isMine ? () => onChoose(true) : undefined}
        take="Use mine"
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
    <div className="flex-row">
      {value === undefined ? <span>not set</span> : <code>{JSON.stringify(value)}</code>}
      <span className="push">
        {isPicked ? (
          <span className="status running fine">
            <Icon name="check" size="small" />
            used
          </span>
        ) : null}
        {onTake ? (
          <button type="button" className="button small" onClick={onTake}>
            {take}
          </button>
        ) : null}
      </span>
    </div>
    {note ? <p className="fine mute">“{note}”</p> : null}
  </div>
)
