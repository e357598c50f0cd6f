import { renderPage } from '../../../http/paging.ts'
import type { CompletionPage, StoredCompletion } from '../../../storage/ports/completions.ts'

/** A stored completion as JSON, in parts: put together from text, because nothing of it is read on the way. */
export function renderStored({ completion, metadata }: StoredCompletion): readonly string[] {
  return [completion.slice(0, -1), ',"metadata":', metadata, '}']
}

/** A page of them as JSON, in parts. */
export function renderCompletionList({ completions, more }: CompletionPage): readonly string[] {
  const ids = completions.map(({ id }) => id)
  return renderPage(ids, completions.map(renderStored), more)
}
