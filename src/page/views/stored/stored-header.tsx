import type { ComponentChildren } from 'preact'
import { CopyButton } from '../../components/copy-button.tsx'
import { ViewHeader } from '../../components/view-header.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { routeHash } from '../../routing/route.ts'
import type { StoredKind } from './summary.ts'

const titles = { completions: 'Completion', responses: 'Response' } as const

/** The head of the page of a stored object: the way back, its id and what can be done with it. */
export function StoredHeader(props: {
  readonly kind: StoredKind
  readonly id: string
  readonly children: ComponentChildren
}) {
  const { kind, id, children } = props
  return (
    <>
      <p class="back">
        <a href={routeHash('stored', [kind])}>Stored {kind}</a>
      </p>
      <ViewHeader title={titles[kind]}>{children}</ViewHeader>
      <p class="stored-id">
        <code>{visibleText(id)}</code>
        <CopyButton text={id} label="Copy the ID" iconOnly />
      </p>
    </>
  )
}
