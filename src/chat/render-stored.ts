import type { CompletionPage, StoredCompletion } from '../storage/completion-list.ts'

/** A stored completion as JSON: put together from text, because nothing of it is read on the way. */
export function renderStored({ completion, metadata }: StoredCompletion): string {
  return `${completion.slice(0, -1)},"metadata":${metadata}}`
}

/** A page of them as JSON. */
export function renderCompletionList({ completions, more }: CompletionPage): string {
  const ends = JSON.stringify({
    first_id: completions[0]?.id ?? null,
    last_id: completions.at(-1)?.id ?? null,
    has_more: more,
  })
  return `{"object":"list","data":[${completions.map(renderStored).join()}],${ends.slice(1)}`
}
