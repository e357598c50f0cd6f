import type { View, ViewProps } from '../view.ts'
import { CompletionDetail } from './completion-detail.tsx'
import { ResponseDetail } from './response-detail.tsx'
import { StoredLists } from './stored-lists.tsx'

function Stored({ path, query }: ViewProps) {
  const [kind, id] = path
  if (kind === 'completions' && id !== undefined) return <CompletionDetail key={id} id={id} query={query} />
  if (kind === 'responses' && id !== undefined) return <ResponseDetail key={id} id={id} query={query} />
  return <StoredLists kind={kind === 'responses' ? 'responses' : 'completions'} query={query} />
}

/** The view of what is stored: completions and responses, to be read, replayed, changed and deleted. */
export const stored: View = {
  id: 'stored',
  title: 'Stored',
  icon: 'stored',
  section: 'organization',
  needs: 'apiKey',
  shortcut: 's',
  component: Stored,
}
