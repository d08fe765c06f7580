// The condition of a way as sentences: whose what, compared how, with what; joined by and, or.

import {
  OPERATORS,
  readSentences,
  type Sentence,
  type Sentences,
  STATUSES,
  type Subject,
  typedConstant,
  writeSentences,
} from '../../flow/condition.ts'
import { conditionText, DATE_PARTS, type Flow, namesOf, ROWS_LOADED } from '../../flow/flow-document.ts'
import { Icon } from '../../parts/icon.tsx'
import './flows.css'

interface Choice {
  readonly key: string
  readonly name: string
  readonly subject: Subject
}

const keyOf = ({ kind, id, value }: Subject): string => `${kind} ${id} ${kind === 'task' ? value : ''}`

function choicesOf(flow: Flow): readonly Choice[] {
  const tasks = flow.phases.flatMap((phase) => phase.tasks)
  const subjects: readonly (readonly [string, Subject])[] = [
    ...tasks.map(({ id, name }) => [`the status of ${name}`, { kind: 'task', id, value: 'status' }] as const),
    ...tasks.map(({ id, name }) => [`the number of rows that ${name} loaded`, { kind: 'task', id, value: ROWS_LOADED }] as const),
    ...flow.phases.map(({ id, name }) => [`the status of phase ${name}`, { kind: 'phase', id, value: 'status' }] as const),
    ...flow.phases.map(
      ({ id, name }) => [`the status of each task of ${name}`, { kind: 'allTasks', id, value: 'status' }] as const,
    ),
    ...flow.phases.map(
      ({ id, name }) => [`the status of any task of ${name}`, { kind: 'anyTask', id, value: 'status' }] as const,
    ),
    ...Object.entries(DATE_PARTS).map(([id, name]) => [name, { kind: 'date', id, value: '' }] as const),
    ['a variable', { kind: 'variable', id: '', value: '' }],
  ]
  return subjects.map(([name, subject]) => ({ key: keyOf(subject), name, subject }))
}

export function ConditionEditor({
  flow,
  condition,
  label,
  onChange,
}: {
  flow: Flow
  condition: unknown
  /** Which way it belongs to, for its fields. */
  label: string
  onChange: (condition: unknown) => void
}) {
  const sentences = readSentences(condition)
  const choices = choicesOf(flow)
  const first: Sentence = { subject: choices[0]!.subject, operator: 'EQUALS', value: 'success' }
  if (condition === undefined)
    return (
      <button
        type="button"
        className="button small ghost"
        onClick={() => onChange(writeSentences({ join: 'AND', list: [first] }))}
      >
        <Icon name="plus" size="small" />
        <span>Only when …</span>
      </button>
    )
  if (!sentences)
    return (
      <p className="fine soft">
        Only when {conditionText(condition, namesOf(flow))}. It is edited as JSON.{' '}
        <button type="button" className="link" onClick={() => onChange(undefined)}>
          Always instead
        </button>
      </p>
    )
  const put = (next: Sentences) => onChange(next.list.length === 0 ? undefined : writeSentences(next))
  return (
    <div className="stack-2 condition">
      {sentences.list.map((sentence, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sentence has no other name than its place
        <div key={index} className="stack-2">
          {index === 0 ? (
            <span className="fine mute">only when</span>
          ) : (
            <select
              className="input join"
              aria-label={`${label}, joined by`}
              value={sentences.join}
              onChange={(event) => put({ ...sentences, join: event.target.value as 'AND' | 'OR' })}
            >
              <option value="AND">and</option>
              <option value="OR">or</option>
            </select>
          )}
          <SentenceEditor
            sentence={sentence}
            choices={choices}
            label={`${label}, sentence ${index + 1}`}
            onChange={(next) => put({ ...sentences, list: sentences.list.with(index, next) })}
            onRemove={() => put({ ...sentences, list: sentences.list.filter((_, at) => at !== index) })}
          />
        </div>
      ))}
      <button
        type="button"
        className="button small ghost"
        onClick={() => put({ ...sentences, list: [...sentences.list, first] })}
      >
        <Icon name="plus" size="small" />
        <span>And also</span>
      </button>
    </div>
  )
}

/** The name of the task or phase that a subject belongs to. */
const ownerOf = ({ kind, id }: Subject, choices: readonly Choice[]): string =>
  choices.find(({ subject }) => subject.kind === kind && subject.id === id)?.name.replace(/^the status of /, '') ?? id

function SentenceEditor({
  sentence,
  choices,
  label,
  onChange,
  onRemove,
}: {
  sentence: Sentence
  choices: readonly Choice[]
  label: string
  onChange: (sentence: Sentence) => void
  onRemove: () => void
}) {
  const { subject, operator, value } = sentence
  const isStatus = subject.value === 'status'
  const key = subject.kind === 'variable' ? keyOf({ ...subject, id: '' }) : keyOf(subject)
  const isOwnPath = subject.kind === 'task' && !isStatus && subject.value !== ROWS_LOADED
  const choose = (chosen: string) => {
    const next = choices.find((one) => one.key === chosen)
    if (!next) return
    const becomesStatus = next.subject.value === 'status'
    onChange({
      subject: next.subject,
      operator: becomesStatus === isStatus ? operator : becomesStatus ? 'EQUALS' : 'GREATER_THAN',
      value: becomesStatus === isStatus ? value : becomesStatus ? 'success' : 0,
    })
  }
  return (
    <div className="flex-row wrap sentence">
      <select className="input" aria-label={`${label}, whose`} value={key} onChange={(event) => choose(event.target.value)}>
        {choices.some((one) => one.key === key) ? null : <option value={key}>a value of {ownerOf(subject, choices)}</option>}
        {choices.map((one) => (
          <option key={one.key} value={one.key}>
            {one.name}
          </option>
        ))}
      </select>
      {subject.kind === 'variable' ? (
        <input
          className="input mono"
          aria-label={`${label}, variable`}
          placeholder="name"
          value={subject.id}
          onChange={(event) => onChange({ ...sentence, subject: { ...subject, id: event.target.value } })}
        />
      ) : null}
      {isOwnPath ? (
        <input
          className="input mono"
          aria-label={`${label}, path`}
          value={subject.value}
          onChange={(event) => onChange({ ...sentence, subject: { ...subject, value: event.target.value } })}
        />
      ) : null}
      <select
        className="input"
        aria-label={`${label}, compared`}
        value={operator}
        onChange={(event) => onChange({ ...sentence, operator: event.target.value })}
      >
        {OPERATORS.filter(([name]) => !isStatus || name.endsWith('EQUALS')).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      {isStatus ? (
        <select
          className="input"
          aria-label={`${label}, with`}
          value={String(value)}
          onChange={(event) => onChange({ ...sentence, value: event.target.value })}
        >
          {STATUSES.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      ) : (
        <input
          className="input mono"
          aria-label={`${label}, with`}
          value={String(value ?? '')}
          onChange={(event) => onChange({ ...sentence, value: typedConstant(event.target.value) })}
        />
      )}
      <button type="button" className="button icon ghost small" aria-label={`Remove ${label}`} onClick={onRemove}>
        <Icon name="x" size="small" />
      </button>
    </div>
  )
}
