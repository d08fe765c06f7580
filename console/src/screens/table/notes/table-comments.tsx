// What people write about a table for each other.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { TableComment } from '../../../../../client/src/operations.ts'
import { useMe } from '../../../facts/me.ts'
import { moment, plural } from '../../../format.ts'
import { Teach } from '../../../listing.tsx'
import { Loaded, useLoad } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { Form } from '../../../parts/form.tsx'
import { Label } from '../../../parts/guide.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { api } from '../../../session.ts'
import { toast } from '../../../shell/toast.tsx'

const useRefresh = () => {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: ['tableComments.list'] })
}

export function TableComments({ tableId }: { tableId: string }) {
  const query = useLoad('tableComments.list', { path: { tableId } })
  const refresh = useRefresh()
  const id = useId()
  const [text, setText] = useState('')
  const say = useMutation({
    mutationFn: () => api.call('tableComments.create', { path: { tableId }, body: { text } }),
    onSuccess: async () => {
      setText('')
      await refresh()
      toast('The comment is added.')
    },
  })
  return (
    <section className="card" aria-labelledby="comments">
      <header>
        <h2 id="comments">Comments</h2>
        <span className="push fine mute">{query.data ? plural(query.data.length, 'comment') : ''}</span>
      </header>
      <Loaded query={query}>
        {(comments) =>
          comments.length === 0 ? (
            <Teach>What others should know about this table: what a column means, what to take care of, whom to ask.</Teach>
          ) : (
            <ul className="list">
              {comments.map((comment) => (
                <Comment key={comment.id} tableId={tableId} comment={comment} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <Form onSubmit={() => say.mutate()}>
        <div className="field">
          <Label htmlFor={id}>New comment</Label>
          <textarea
            className="input"
            id={id}
            rows={3}
            maxLength={10_000}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </div>
        {say.error ? <Problem error={say.error} /> : null}
        <ActButton
          needs="tableComments.create"
          type="submit"
          className="button primary"
          disabled={text.trim() === '' || say.isPending}
        >
          Add the comment
        </ActButton>
      </Form>
    </section>
  )
}

function Comment({ tableId, comment }: { tableId: string; comment: TableComment }) {
  const refresh = useRefresh()
  const me = useMe()
  const isOwn = me?.id === String(comment.author.id)
  const path = { tableId, commentId: comment.id }
  const [draft, setDraft] = useState<string>()
  const put = async (text: string) => {
    await api.call('tableComments.update', { path, body: { text } })
    await refresh()
  }
  const save = useMutation({
    mutationFn: () => put(draft ?? ''),
    onSuccess: () => {
      setDraft(undefined)
      toast('Saved.', () => put(comment.text))
    },
  })
  const remove = useMutation({
    mutationFn: async () => {
      await api.call('tableComments.delete', { path })
      await refresh()
    },
    onSuccess: () =>
      toast(
        'The comment is deleted.',
        // By its author only: it would come back under the name of another.
        isOwn
          ? async () => {
              await api.call('tableComments.create', { path: { tableId }, body: { text: comment.text } })
              await refresh()
            }
          : undefined,
      ),
  })
  const others = isOwn ? undefined : 'Only its author changes a comment.'
  return (
    <li>
      <div className="grow stack-2">
        <p className="fine mute">
          <span className="medium">{comment.author.description}</span>, {moment(comment.created)}
          {comment.edited ? `, edited ${moment(comment.edited)}` : ''}
        </p>
        {draft === undefined ? (
          <p className="body-text wrap">{comment.text}</p>
        ) : (
          <Form className="stack-2" onSubmit={() => save.mutate()}>
            <textarea
              className="input"
              aria-label="Text of the comment"
              rows={3}
              maxLength={10_000}
              value={draft}
              onChange={({ target }) => setDraft(target.value)}
            />
            <div className="flex-row">
              <button type="submit" className="button small primary" disabled={draft.trim() === '' || save.isPending}>
                Save
              </button>
              <button type="button" className="button small" onClick={() => setDraft(undefined)}>
                Cancel
              </button>
            </div>
          </Form>
        )}
        {save.error ? <Problem error={save.error} /> : null}
        {remove.error ? <Problem error={remove.error} /> : null}
      </div>
      {draft === undefined ? (
        <div className="flex-row">
          <ActButton
            needs="tableComments.update"
            className="button small ghost"
            disabled={!isOwn}
            title={others}
            onClick={() => setDraft(comment.text)}
          >
            Edit
          </ActButton>
          <ActButton
            needs="tableComments.delete"
            className="button small ghost"
            disabled={!(isOwn || me?.isMasterToken) || remove.isPending}
            title={isOwn || me?.isMasterToken ? undefined : 'Only its author and admins of the project delete a comment.'}
            onClick={() => remove.mutate()}
          >
            Delete
          </ActButton>
        </div>
      ) : null}
    </li>
  )
}
