// Fields that several steps use: a text, a choice, kinds as cards, parameters with secrets.

import { type ComponentProps, useState } from 'react'
import { CONFIG, type Kind, textAt } from '../../../builder/extractor-document.ts'
import { isRecord, type Path, parsed, putAt, renameAt, sliceAt, valueIn } from '../../../document/json-text.ts'
import { typedText } from '../../../document/schema.ts'
import { NameInput, SecretInput } from '../../../editor/schema-form.tsx'
import { Field } from '../../../parts/field.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { TextField } from '../../../parts/text-field.tsx'
import type { OpenDocument } from '../../../views/configuration-documents.ts'
import { edit } from './step.ts'
import '../builder.css'

/** The text at one place of a document; an empty one takes it away. */
export const Text = ({
  owner,
  path,
  ...field
}: Omit<ComponentProps<typeof TextField>, 'value' | 'onChange'> & { readonly owner: OpenDocument; readonly path: Path }) => (
  <TextField
    {...field}
    value={textAt(parsed(owner.draft.text), path)}
    onChange={(next) => edit(owner, [[path, next === '' ? undefined : next]])}
  />
)

export const Choose = ({
  owner,
  path,
  label,
  options,
  otherwise,
}: {
  owner: OpenDocument
  path: Path
  label: string
  options: readonly string[]
  otherwise: string
}) => (
  <Field label={label}>
    {(id) => (
      <select
        className="input"
        id={id}
        value={textAt(parsed(owner.draft.text), path) || otherwise}
        onChange={(event) => edit(owner, [[path, event.target.value]])}
      >
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    )}
  </Field>
)

export const Kinds = ({
  label,
  kinds,
  current,
  onChoose,
}: {
  label: string
  kinds: readonly Kind[]
  current: string
  onChoose: (id: string) => void
}) => (
  <div role="radiogroup" aria-label={label} className="opts">
    {kinds.map(({ id, name, note }) => (
      // biome-ignore lint/a11y/useSemanticElements: a card with two lines of text
      <button
        key={id}
        type="button"
        className="option-card"
        role="radio"
        aria-checked={id === current}
        onClick={() => onChoose(id)}
      >
        <b>{name}</b>
        <span>{note}</span>
      </button>
    ))}
  </div>
)

/** Names and values that are sent; a secret one is an attribute that is encrypted. */
export function Params({
  owner,
  secretOwner,
  path,
  label,
}: {
  owner: OpenDocument
  secretOwner: OpenDocument
  path: Path
  label: string
}) {
  const document = parsed(owner.draft.text)
  const secrets = parsed(secretOwner.draft.text)
  const value = valueIn(document, path)
  const entries = Object.entries(isRecord(value) ? value : {})
  const [name, setName] = useState('')
  const add = (isSecret: boolean) => {
    if (name === '' || entries.some(([known]) => known === name)) return
    edit(owner, [[[...path, name], isSecret ? { attr: `#${name}` } : '']])
    setName('')
  }
  return (
    <div className="field">
      <span className="label">{label}</span>
      <div className="entries">
        {entries.map(([key, one]) => {
          const attribute = isRecord(one) && typeof one.attr === 'string' && one.attr.startsWith('#') ? one.attr : undefined
          return (
            <div key={key} className="entry-row">
              <NameInput
                value={key}
                label={`Name of ${key}`}
                onDone={(next) =>
                  next && !entries.some(([known]) => known === next)
                    ? owner.draft.edit(renameAt(owner.draft.text, [...path, key], next))
                    : undefined
                }
              />
              {attribute ? (
                <SecretInput
                  id={`secret-${attribute}`}
                  label={`Value of ${key}`}
                  name={attribute}
                  value={valueIn(secrets, [...CONFIG, attribute])}
                  onChange={(next) => edit(secretOwner, [[[...CONFIG, attribute], next]])}
                />
              ) : (
                <input
                  className="input mono"
                  aria-label={`Value of ${key}`}
                  value={typeof one === 'string' ? one : (sliceAt(owner.draft.text, [...path, key]) ?? '')}
                  onChange={(event) =>
                    owner.draft.edit(putAt(owner.draft.text, [...path, key], typedParameter(event.target.value)))
                  }
                />
              )}
              <button
                type="button"
                className="button icon ghost small"
                aria-label={`Remove ${key}`}
                onClick={() => edit(owner, [[[...path, key], undefined]])}
              >
                <Icon name="x" size="small" />
              </button>
            </div>
          )
        })}
        <div className="flex-row wrap">
          <input
            className="input mono"
            aria-label={`New name, ${label.toLowerCase()}`}
            placeholder="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              add(false)
            }}
          />
          <button type="button" className="button small" disabled={name === ''} onClick={() => add(false)}>
            Add a value
          </button>
          <button type="button" className="button small" disabled={name === ''} onClick={() => add(true)}>
            <Icon name="lock" size="small" />
            <span>Add a secret</span>
          </button>
        </div>
      </div>
    </div>
  )
}

/** Numbers stay numbers, what is JSON is JSON, and an empty value is sent. */
const typedParameter = (text: string): string => typedText(text, {}) ?? '""'
