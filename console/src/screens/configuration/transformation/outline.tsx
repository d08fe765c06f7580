// The blocks and codes of a script, in the order in which they run: chosen, renamed, moved, added and removed. Every change can be undone.

import { useState } from 'react'
import type { EditHistory } from '../../../document/edit-history.ts'
import {
  addBlock,
  addCode,
  type Block,
  moveSpot,
  readBlocks,
  removeSpot,
  renameSpot,
  type Spot,
} from '../../../document/script-blocks.ts'
import { plural } from '../../../format.ts'
import { ActButton } from '../../../parts/act-button.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { toast } from '../../../shell/toast.tsx'
import './transformation.css'

interface OutlineProps {
  readonly text: string
  readonly history: EditHistory
  readonly selected: Spot
  readonly onSelect: (spot: Spot) => void
}

const isSame = (one: Spot, other: Spot): boolean => one.block === other.block && one.code === other.code

export function Outline({ text, history, selected, onSelect }: OutlineProps) {
  const blocks = readBlocks(text)
  const [renamed, setRenamed] = useState<Spot>()
  const apply = (made: { readonly text: string; readonly spot: Spot } | undefined) => {
    if (!made) return
    history.edit(made.text)
    if (made.spot.code !== undefined) onSelect(made.spot)
  }
  const remove = (spot: Spot, name: string) => {
    history.edit(removeSpot(text, spot))
    const rest = readBlocks(removeSpot(text, spot))
    const block = Math.max(0, Math.min(spot.block, rest.length - 1))
    onSelect({ block, code: Math.max(0, Math.min(spot.code ?? 0, (rest[block]?.codes.length ?? 1) - 1)) })
    toast(`Removed ${name}. Undo above the outline restores it.`)
  }
  const entry = (spot: Spot, name: string, note: string) => (
    <Entry
      spot={spot}
      name={name}
      note={note}
      isSelected={isSame(spot, selected)}
      isRenamed={renamed !== undefined && isSame(spot, renamed)}
      onSelect={() => (spot.code === undefined ? undefined : onSelect(spot))}
      onRename={(next) => {
        setRenamed(undefined)
        if (next !== undefined && next !== '' && next !== name) history.edit(renameSpot(text, spot, next))
      }}
      onAskName={() => setRenamed(spot)}
      onMove={(by) => apply(moveSpot(text, spot, by))}
      canMove={(by) => canMove(blocks, spot, by)}
      onRemove={() => remove(spot, name)}
    />
  )
  return (
    <section aria-label="Outline">
      <div className="pane-header">
        <h2 className="heading">Outline</h2>
        <ActButton
          needs="configurations.update"
          className="button small ghost push"
          disabled={!history.undo}
          title="Takes the last change back"
          onClick={history.undo}
        >
          Undo
        </ActButton>
        <ActButton needs="configurations.update" className="button small ghost" disabled={!history.redo} onClick={history.redo}>
          Redo
        </ActButton>
      </div>
      {blocks.length === 0 ? (
        <p className="inset mute">There is no block yet. Blocks hold codes, and codes hold statements.</p>
      ) : null}
      <ol className="outline">
        {blocks.map(({ name, codes }, block) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a block has no other name
          <li key={block}>
            {entry({ block }, name, plural(codes.length, 'code'))}
            <ol>
              {codes.map((code, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a code has no other name
                <li key={at}>{entry({ block, code: at }, code.name, plural(code.script.length, 'statement'))}</li>
              ))}
            </ol>
            <ActButton needs="configurations.update" className="link fine add-code" onClick={() => apply(addCode(text, block))}>
              Add a code to {name}
            </ActButton>
          </li>
        ))}
      </ol>
      <div className="inset">
        <ActButton needs="configurations.update" className="button small" onClick={() => apply(addBlock(text))}>
          <Icon name="plus" size="small" />
          <span>Add a block</span>
        </ActButton>
      </div>
    </section>
  )
}

function canMove(blocks: readonly Block[], { block, code }: Spot, by: -1 | 1): boolean {
  const other = blocks[block + by] !== undefined
  if (code === undefined) return other
  const at = code + by
  return (at >= 0 && at < blocks[block]!.codes.length) || other
}

interface EntryProps {
  readonly spot: Spot
  readonly name: string
  readonly note: string
  readonly isSelected: boolean
  readonly isRenamed: boolean
  readonly onSelect: () => void
  readonly onAskName: () => void
  /** Undefined: the name stays. */
  readonly onRename: (name: string | undefined) => void
  readonly canMove: (by: -1 | 1) => boolean
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: () => void
}

function Entry({
  spot,
  name,
  note,
  isSelected,
  isRenamed,
  onSelect,
  onAskName,
  onRename,
  canMove: can,
  onMove,
  onRemove,
}: EntryProps) {
  const isBlock = spot.code === undefined
  const kind = isBlock ? 'block' : 'code'
  if (isRenamed)
    return (
      <input
        className="input outline-name"
        aria-label={`Name of the ${kind} ${name}`}
        defaultValue={name}
        // biome-ignore lint/a11y/noAutofocus: it takes the place of the button that was pressed
        autoFocus
        onBlur={(event) => onRename(event.target.value.trim())}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onRename(event.currentTarget.value.trim())
          if (event.key === 'Escape') onRename(undefined)
        }}
      />
    )
  return (
    <div className={`outline-entry ${isBlock ? 'outline-block' : ''}`} aria-current={isSelected ? 'true' : undefined}>
      {isBlock ? (
        <span className="medium clip grow">{name}</span>
      ) : (
        <button type="button" className="outline-choice clip grow" onClick={onSelect}>
          {name}
        </button>
      )}
      <span className="fine mute nowrap outline-note">{note}</span>
      <span className="outline-actions flex-row gap-1">
        <Action label={`Rename the ${kind} ${name}`} icon="edit" onClick={onAskName} />
        <Action label={`Move ${name} up`} isDisabled={!can(-1)} onClick={() => onMove(-1)}>
          ↑
        </Action>
        <Action label={`Move ${name} down`} isDisabled={!can(1)} onClick={() => onMove(1)}>
          ↓
        </Action>
        <Action label={`Remove the ${kind} ${name}`} icon="x" onClick={onRemove} />
      </span>
    </div>
  )
}

interface ActionProps {
  readonly label: string
  readonly icon?: 'edit' | 'x'
  readonly isDisabled?: boolean
  readonly onClick: () => void
  readonly children?: React.ReactNode
}

const Action = ({ label, icon, isDisabled = false, onClick, children }: ActionProps) => (
  <ActButton
    needs="configurations.update"
    className="button small icon ghost"
    aria-label={label}
    disabled={isDisabled}
    onClick={onClick}
  >
    {icon ? <Icon name={icon} size="small" /> : children}
  </ActButton>
)
