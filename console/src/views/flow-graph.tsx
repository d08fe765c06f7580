// A flow as columns of phases with lines between. For a screen reader it is a list: each task has its name, its state and its phase.

import { useLayoutEffect, useRef, useState } from 'react'
import { type Flow, type FlowPhase, type FlowTask, namesOf } from '../flow/flow-document.ts'
import { Icon } from '../parts/icon.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { StatusIcon } from '../parts/status.tsx'
import './views.css'

export interface Mark {
  readonly status: string
  readonly note: string
}

export interface FlowGraphProps {
  readonly flow: Flow
  /** `phase 0` or `task 3`, by their places in the lists. */
  readonly selected: string | undefined
  readonly onSelect: (key: string) => void
  readonly markOfTask: (task: FlowTask) => Mark
  readonly markOfPhase: (phase: FlowPhase) => string
  /** Left out: the graph is only looked at. */
  readonly onMove?: (task: FlowTask, phase: FlowPhase, before?: FlowTask) => void
  /** To another place in the order of phases. */
  readonly onMovePhase?: (phase: FlowPhase, to: number) => void
  readonly onAddTask?: (phase: FlowPhase) => void
}

interface Dragged {
  readonly task?: FlowTask
  readonly phase?: FlowPhase
}

interface Edge {
  readonly key: string
  readonly d: string
  readonly tone: string
}

export function FlowGraph({ flow, selected, onSelect, markOfTask, markOfPhase, onMove, onMovePhase, onAddTask }: FlowGraphProps) {
  const canvas = useRef<HTMLDivElement>(null)
  const [edges, setEdges] = useState<readonly Edge[]>([])
  const [dragged, setDragged] = useState<Dragged>()
  const layers = [...new Set(flow.phases.map(({ layer }) => layer))].toSorted((a, b) => a - b)
  const statuses = flow.phases.map((phase) => phaseStatus(phase, markOfTask))
  const picture = JSON.stringify([flow, statuses])
  // biome-ignore lint/correctness/useExhaustiveDependencies: lines are redrawn when what they join has moved
  useLayoutEffect(() => {
    const draw = () => setEdges(linesBetween(canvas.current, flow, statuses))
    draw()
    const observer = new ResizeObserver(draw)
    if (canvas.current) observer.observe(canvas.current)
    return () => observer.disconnect()
  }, [picture])
  const moveBy = (task: FlowTask, phase: FlowPhase, step: number) => {
    const next = flow.phases[phase.index + step]
    if (next) onMove?.(task, next)
  }
  /** Before the task that is one place up, or two places down. */
  const moveWithin = (task: FlowTask, phase: FlowPhase, step: number) => {
    const to = phase.tasks.indexOf(task) + step
    if (to >= 0 && to <= phase.tasks.length) onMove?.(task, phase, phase.tasks[to])
  }
  const drop = (phase: FlowPhase, before?: FlowTask) => {
    if (dragged?.task && dragged.task !== before) onMove?.(dragged.task, phase, before)
    if (dragged?.phase && dragged.phase !== phase)
      onMovePhase?.(dragged.phase, dragged.phase.index < phase.index ? phase.index + 1 : phase.index)
    setDragged(undefined)
  }
  const names = namesOf(flow)
  const waysOf = (phase: FlowPhase) => flow.lines.filter(({ from, condition }) => from === phase.id && condition !== '')
  return (
    <Scroll label="Graph of phases and tasks">
      <div className="flow-canvas" ref={canvas}>
        <svg className="edges" aria-hidden="true">
          {edges.map(({ key, d, tone }) => (
            <path key={key} d={d} className={tone} />
          ))}
        </svg>
        {layers.map((layer) => (
          <ol key={layer} className="fl-layer">
            {flow.phases
              .filter((phase) => phase.layer === layer)
              .map((phase) => (
                <li
                  key={phase.id}
                  className={`phase-box ${selected === `phase ${phase.index}` ? 'selected' : ''} ${dragged ? 'target' : ''}`}
                  data-phase={phase.id}
                  onDragOver={(event) => event.preventDefault()}
                  onDrop={() => drop(phase)}
                >
                  <button
                    type="button"
                    className="phs-h flex-row"
                    draggable={onMovePhase !== undefined}
                    aria-keyshortcuts={onMovePhase ? 'Alt+ArrowLeft Alt+ArrowRight' : undefined}
                    onDragStart={() => setDragged({ phase })}
                    onDragEnd={() => setDragged(undefined)}
                    onClick={() => onSelect(`phase ${phase.index}`)}
                    onKeyDown={(event) => {
                      const step = { ArrowLeft: -1, ArrowRight: 2 }[event.key]
                      if (!event.altKey || step === undefined) return
                      event.preventDefault()
                      onMovePhase?.(phase, phase.index + step)
                    }}
                  >
                    <b className="clip">{phase.name}</b>
                    <span className="push fine mute tabular">{markOfPhase(phase)}</span>
                  </button>
                  {phase.tasks.map((task) => {
                    const { status, note } = markOfTask(task)
                    return (
                      <button
                        key={task.id}
                        type="button"
                        className={`task-box ${status === 'error' ? 'failing' : ''} ${status === 'skipped' || !task.isEnabled ? 'dimmed' : ''} ${selected === `task ${task.index}` ? 'selected' : ''}`}
                        draggable={onMove !== undefined}
                        aria-keyshortcuts={onMove ? 'Alt+ArrowLeft Alt+ArrowRight Alt+ArrowUp Alt+ArrowDown' : undefined}
                        onDragStart={() => setDragged({ task })}
                        onDragEnd={() => setDragged(undefined)}
                        onDrop={(event) => {
                          event.stopPropagation()
                          drop(phase, task)
                        }}
                        onClick={() => onSelect(`task ${task.index}`)}
                        onKeyDown={(event) => {
                          const order = { ArrowUp: -1, ArrowDown: 2 }[event.key]
                          if (event.altKey && order !== undefined) {
                            event.preventDefault()
                            moveWithin(task, phase, order)
                            return
                          }
                          const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
                          if (!event.altKey || step === undefined) return
                          event.preventDefault()
                          moveBy(task, phase, step)
                        }}
                      >
                        <span className="box-name">
                          <StatusIcon status={task.isEnabled ? status : 'disabled'} />
                          <span className="clip">{task.name}</span>
                        </span>
                        <span className="box-note clip">{note}</span>
                      </button>
                    )
                  })}
                  {waysOf(phase).map(({ to, condition }) => (
                    <p key={`${to} ${condition}`} className="fine mute way-line">
                      then {names.get(to) ?? to}, only when {condition}
                    </p>
                  ))}
                  {onAddTask ? (
                    <button type="button" className="button small ghost" onClick={() => onAddTask(phase)}>
                      <Icon name="plus" size="small" />
                      <span>
                        Add a task<span className="visually-hidden"> to {phase.name}</span>
                      </span>
                    </button>
                  ) : null}
                </li>
              ))}
          </ol>
        ))}
      </div>
    </Scroll>
  )
}

function phaseStatus(phase: FlowPhase, markOfTask: (task: FlowTask) => Mark): string {
  const statuses = phase.tasks.map((task) => markOfTask(task).status)
  if (statuses.includes('error')) return 'failing'
  if (statuses.includes('processing')) return 'moving'
  return statuses.length > 0 && statuses.every((status) => status === 'success' || status === 'warning') ? 'passed' : ''
}

/** From the right side of a phase to the left side of the one that follows. */
function linesBetween(canvas: HTMLElement | null, flow: Flow, statuses: readonly string[]): readonly Edge[] {
  if (!canvas) return []
  const origin = canvas.getBoundingClientRect()
  const boxOf = (id: string) => canvas.querySelector(`[data-phase="${CSS.escape(id)}"]`)?.getBoundingClientRect()
  return flow.lines.flatMap(({ from, to }, index) => {
    const [start, end] = [boxOf(from), boxOf(to)]
    if (!start || !end) return []
    const isBack = end.left < start.right
    const x1 = start.right - origin.left
    const y1 = start.top - origin.top + Math.min(start.height, 90) / 2
    const x2 = (isBack ? end.right : end.left) - origin.left
    const y2 = end.top - origin.top + Math.min(end.height, 90) / 2
    const middle = isBack ? Math.max(x1, x2) + 16 : (x1 + x2) / 2
    const tone = statuses[flow.phases.findIndex(({ id }) => id === from)] ?? ''
    return [{ key: `${index}`, d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`, tone }]
  })
}
