// The model of the operator, for people: what would be sent is shown first, word for word, and the answer with what was sent.

import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Answer } from '../../../client/src/client.ts'
import type { AiPromptBody } from '../../../client/src/operations.ts'
import { plural } from '../format.ts'
import { useLoad } from '../load.tsx'
import { ActButton } from '../parts/act-button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Drawer } from '../parts/drawer.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import './views.css'

/** False without a model, and until it is known. */
export const useHasModel = (): boolean => useLoad('ai.model').data?.isAvailable === true

/** The client adds the branch of the screen. */
type Task = AiPromptBody

interface Ask {
  readonly preview: (task: Task) => void
  readonly send: () => void
  readonly prompt: Answer<'ai.prompt'> | undefined
  readonly answer: Answer<'ai.answer'> | undefined
  readonly error: Error | null
  readonly isPending: boolean
}

function useAsk(): Ask {
  const prompt = useMutation({ mutationFn: (task: Task) => api.call('ai.prompt', { body: task }) })
  const answer = useMutation({
    mutationFn: ({ task, promptId }: { task: Task; promptId: string }) => api.call('ai.answer', { body: { ...task, promptId } }),
  })
  return {
    preview: (task) => {
      answer.reset()
      prompt.mutate(task)
    },
    send: () => {
      if (prompt.data && prompt.variables) answer.mutate({ task: prompt.variables, promptId: prompt.data.promptId })
    },
    prompt: prompt.data,
    answer: answer.data,
    error: prompt.error ?? answer.error,
    isPending: prompt.isPending || answer.isPending,
  }
}

/** Explains a failed job, on request. */
export function ExplainButton({ jobId }: { readonly jobId: string }) {
  const hasModel = useHasModel()
  const [isOpen, setOpen] = useState(false)
  const ask = useAsk()
  if (!hasModel) return null
  return (
    <>
      <ActButton
        needs="ai.prompt"
        className="button"
        onClick={() => {
          setOpen(true)
          ask.preview({ task: 'explain-job', jobId })
        }}
      >
        Explain
      </ActButton>
      {isOpen ? (
        <Drawer title="Explain this failure" onClose={() => setOpen(false)}>
          <Exchange ask={ask} answered={({ text }) => <p className="body-text said">{text}</p>} />
        </Drawer>
      ) : null}
    </>
  )
}

/** Writes a query for a question; the person decides whether it is run. */
export function WriteQueryButton({ onSql }: { readonly onSql: (sql: string) => void }) {
  const hasModel = useHasModel()
  const [isOpen, setOpen] = useState(false)
  const [question, setQuestion] = useState('')
  const ask = useAsk()
  if (!hasModel) return null
  return (
    <>
      <ActButton needs="ai.prompt" className="button small" onClick={() => setOpen(true)}>
        Write this query
      </ActButton>
      {isOpen ? (
        <Drawer title="Write this query" onClose={() => setOpen(false)}>
          <Form className="form" onSubmit={() => ask.preview({ task: 'write-query', question })}>
            <Field label="What should it answer?" hint="Names and types of tables and columns are sent with it, no rows.">
              {(id) => (
                <textarea className="input" id={id} value={question} onChange={(event) => setQuestion(event.target.value)} />
              )}
            </Field>
            <div className="flex-row">
              <button type="submit" className="button" disabled={ask.isPending || question.trim() === ''}>
                Show what is sent
              </button>
            </div>
          </Form>
          <Exchange
            ask={ask}
            answered={({ sql, text }) => (
              <>
                <pre className="code sunken wrap">{sql ?? text}</pre>
                <div className="flex-row">
                  <button
                    type="button"
                    className="button primary"
                    onClick={() => {
                      onSql(sql ?? text)
                      setOpen(false)
                    }}
                  >
                    Put it into the editor
                  </button>
                  <CopyButton text={sql ?? text} label="Copy" />
                </div>
              </>
            )}
          />
        </Drawer>
      ) : null}
    </>
  )
}

interface ExchangeProps {
  readonly ask: Ask
  readonly answered: (answer: Answer<'ai.answer'>) => ReactNode
}

/** What would be sent, then what came back above what was sent. */
function Exchange({ ask: { prompt, answer, error, isPending, send }, answered }: ExchangeProps) {
  return (
    <>
      {error ? <Problem error={error} /> : null}
      {answer ? (
        <section className="stack-3" aria-label="Answer">
          {answered(answer)}
          <p className="fine mute">
            Written by {answer.model} at {answer.host}; it can be wrong. {plural(answer.callsLeft, 'request')} left today.
          </p>
        </section>
      ) : null}
      {prompt ? (
        <section className="stack-3" aria-label={answer ? 'What was sent' : 'What is sent'}>
          <p className="body-text">
            {answer ? 'This was sent' : 'This is sent, and nothing else,'} to {prompt.model} at {prompt.host}:
          </p>
          {(answer?.sent ?? prompt.messages).map(({ role, content }) => (
            <pre key={role} className="code sunken wrap">
              {content}
            </pre>
          ))}
          {answer ? null : (
            <div className="flex-row">
              <ActButton needs="ai.answer" className="button primary" disabled={isPending} onClick={send}>
                {isPending ? 'Waiting for the model' : 'Send'}
              </ActButton>
            </div>
          )}
        </section>
      ) : null}
    </>
  )
}
