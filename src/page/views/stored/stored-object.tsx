import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { AnswerUsage } from '../../api/answer.ts'
import { useList } from '../../api/pages.ts'
import { useChange } from '../../api/resource.ts'
import { Button, CodeBlock, CopyButton, IdLine } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Badge, Foreign, type LabelledFact, type Tone } from '../../components/facts.tsx'
import { countWithPart, formatCount, visibleText } from '../../components/format.ts'
import { Tabs } from '../../components/tabs.tsx'
import { useToast } from '../../components/toast.tsx'
import { Failure, Loading, ViewHeader } from '../../components/view.tsx'
import { replaceQuery, routeHash } from '../../route.ts'
import { useApi } from '../../session.tsx'
import { Conversation, type Entry } from './conversation.tsx'
import { type Metadata, metadataValue, type StoredKind } from './summary.ts'

const titles = { completions: 'Completion', responses: 'Response' } as const

/** The head of the page of a stored object: the way back, its ID, and what can be done with it. */
export function StoredHeader(props: {
  readonly kind: StoredKind
  readonly id: string
  /** The address of the object in the API. */
  readonly path: string
  readonly canDelete: boolean
  readonly children: ComponentChildren
}) {
  const { kind, id, path } = props
  const [deleting, setDeleting] = useState(false)
  return (
    <>
      <ViewHeader
        title={titles[kind]}
        back={{ href: routeHash('stored', [kind]), label: `← Stored ${kind}` }}
      >
        {props.children}
        <Button
          label="Delete"
          icon="trash"
          kind="danger"
          disabled={!props.canDelete}
          onClick={() => setDeleting(true)}
        />
      </ViewHeader>
      <IdLine id={id} />
      {deleting && <DeleteDialog kind={kind} path={path} onClose={() => setDeleting(false)} />}
    </>
  )
}

const deletions = {
  completions: {
    name: 'completion',
    note: 'The completion and its messages are deleted. This cannot be undone.',
  },
  responses: {
    name: 'response',
    note: 'The response is deleted. Responses that continue it are kept, but it cannot be continued again. This cannot be undone.',
  },
} as const

/** Asks before a stored object is deleted, and returns to the list afterwards. */
function DeleteDialog(props: {
  readonly kind: StoredKind
  readonly path: string
  readonly onClose: () => void
}) {
  const { kind, path, onClose } = props
  const { name, note } = deletions[kind]
  const api = useApi()
  const toast = useToast()
  const { busy, failure, run } = useChange()
  const remove = async () => {
    await api.send('DELETE', path)
    toast(`The ${name} was deleted.`)
    location.hash = routeHash('stored', [kind])
  }
  return (
    <Dialog
      title={`Delete this ${name}?`}
      onClose={onClose}
      actions={
        <>
          <Button label="Keep it" onClick={onClose} />
          <Button label="Delete" icon="trash" kind="danger" disabled={busy} onClick={() => run(remove)} />
        </>
      }
    >
      <p>{note}</p>
      {failure && <Failure failure={failure} />}
    </Dialog>
  )
}

/** The token counts as facts, if they are known. */
export function tokenFacts(usage: AnswerUsage | null | undefined): readonly LabelledFact[] {
  if (!usage) return []
  return [
    ['Input tokens', countWithPart(usage.input, usage.cached, 'cached')],
    ['Output tokens', countWithPart(usage.output, usage.reasoning, 'reasoning')],
  ]
}

const tones: Readonly<Record<string, Tone>> = {
  stop: 'good',
  completed: 'good',
  failed: 'bad',
  content_filter: 'bad',
  length: 'warning',
  incomplete: 'warning',
  in_progress: 'accent',
  queued: 'accent',
}

/** The finish reason of a completion, or the status of a response. */
export function StatusBadge({ status }: { readonly status: string }): ComponentChildren {
  if (status === '') return '–'
  return <Badge tone={tones[status]}>{visibleText(status.replaceAll('_', ' '))}</Badge>
}

/** The metadata of a stored object; each pair leads to everything that has it. */
export function MetadataList({ kind, metadata }: { readonly kind: StoredKind; readonly metadata: Metadata }) {
  const pairs = Object.entries(metadata).map(([key, value]) => [key, metadataValue(value)] as const)
  if (pairs.length === 0) return <p class="quiet">No metadata.</p>
  return (
    <ul class="chips" aria-label="Metadata">
      {pairs.map(([key, value]) => (
        <li key={key}>
          <a
            class="badge"
            href={routeHash('stored', [kind], { metadata: JSON.stringify({ [key]: value }) })}
            title="Show everything with this pair"
          >
            <Foreign text={key} />: <Foreign text={value} />
          </a>
        </li>
      ))}
    </ul>
  )
}

const tabLabels = { conversation: 'Conversation', replay: 'Replay', json: 'JSON' } as const

type DetailTab = keyof typeof tabLabels

/** The parts of a stored object in tabs, of which the address keeps the selected one. */
export function DetailTabs(props: {
  readonly query: URLSearchParams
  readonly parts: Readonly<Partial<Record<DetailTab, ComponentChildren>>>
}) {
  const { query, parts } = props
  const tabs = (Object.keys(parts) as DetailTab[]).map((id) => ({ id, label: tabLabels[id] }))
  const selected = tabs.find(({ id }) => id === query.get('tab'))?.id ?? 'conversation'
  return (
    <Tabs
      label="Parts"
      tabs={tabs}
      selected={selected}
      onSelect={(tab) => replaceQuery({ tab: tab === 'conversation' ? undefined : tab })}
    >
      {parts[selected]}
    </Tabs>
  )
}

/** The input of the model, loaded page by page. */
export function StoredInput(props: {
  /** The address of the list in the API. */
  readonly path: string
  readonly entriesOf: (item: unknown) => readonly Entry[]
  /** The content before the list. */
  readonly first?: readonly Entry[]
  /** The label of the button that loads the next page. */
  readonly more: string
}) {
  const { path, entriesOf, first = [], more } = props
  const query = { limit: 50, order: 'asc' }
  const { items, loading, failure, hasMore, loadMore } = useList<unknown>(useApi(), path, query)
  return (
    <>
      <Conversation label="Input" entries={[...first, ...items.flatMap(entriesOf)]} />
      {loading && <Loading lines={3} />}
      {failure && <Failure failure={failure} retry={loadMore} />}
      {hasMore && !loading && !failure && <Button label={more} onClick={loadMore} />}
    </>
  )
}

/** Characters. */
const maxShown = 100_000

/** A stored object as JSON; of a long one, the start. */
export function JsonView({ value }: { readonly value: unknown }) {
  const json = JSON.stringify(value, null, 2)
  return (
    <div class="stack">
      {json.length > maxShown && (
        <p class="quiet">
          These are the first {formatCount(maxShown)} of {formatCount(json.length)} characters.{' '}
          <CopyButton text={json} label="Copy all" />
        </p>
      )}
      <CodeBlock code={visibleText(json.slice(0, maxShown))} label="JSON" />
    </div>
  )
}
