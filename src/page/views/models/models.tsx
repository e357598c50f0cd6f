import type { View, ViewProps } from '../view.ts'
import { ModelDetail } from './model-detail.tsx'
import { ModelList } from './model-list.tsx'

function Models({ path, query }: ViewProps) {
  return path.length === 0 ? (
    <ModelList query={query} />
  ) : (
    <ModelDetail key={path.join('/')} slug={path.join('/')} />
  )
}

/** The models view: what can be requested, what it costs, and why a model is disabled. */
export const models: View = {
  id: 'models',
  title: 'Models',
  icon: 'models',
  section: 'organization',
  needs: 'apiKey',
  shortcut: 'm',
  component: Models,
}
