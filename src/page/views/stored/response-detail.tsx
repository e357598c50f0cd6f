import { useState } from 'preact/hooks'
import { type ListPage, usePages } from '../../api/use-pages.ts'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { Failure, Loaded, Loading } from '../../components/states.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { useApi } from '../../session/session.tsx'
import { CancelButton } from './cancel-button.tsx'
import { Conversation } from './conversation.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { DetailTabs, detailTabNamed } from './detail-tabs.tsx'
import { itemEntry } from './entries.ts'
import { JsonView } from './json-view.tsx'
import { MetadataList } from './metadata-list.tsx'
import { Replay } from './replay.tsx'
import { ResponseFacts } from './response-facts.tsx'
import { isOpen, type StoredResponse } from './stored-response.ts'
import { StoredHeader } from './stored-header.tsx'

const tabs = ['conversation', 'replay', 'json'] as const

/** A stored response with the items of its request. */
export function ResponseDetail({ id, query }: { readonly id: string; readonly query: URLSearchParams }) {
  const api = useApi()
  const path = `/v1/responses/${encodeURIComponent(id)}`
  const response = useResource((signal) => api.get<StoredResponse>(path, { signal }), [api, path])
  const [deleting, setDeleting] = useState(false)
  const { value, reload } = response
  return (
    <>
      <StoredHeader kind="responses" id={id}>
        <Button label="Refresh" icon="retry" onClick={reload} />
        {value && isOpen(value) && <CancelButton path={path} onCancelled={reload} />}
        <Button
          label="Delete"
          icon="trash"
          kind="danger"
          disabled={value === undefined || isOpen(value)}
          onClick={() => setDeleting(true)}
        />
      </StoredHeader>
      <Loaded resource={response} lines={12}>
        {(loaded) => <ResponseView path={path} response={loaded} query={query} />}
      </Loaded>
      {deleting && <DeleteDialog kind="responses" id={id} onClose={() => setDeleting(false)} />}
    </>
  )
}

function ResponseView(props: {
  readonly path: string
  readonly response: StoredResponse
  readonly query: URLSearchParams
}) {
  const { response, path } = props
  const tab = detailTabNamed(props.query, tabs)
  return (
    <div class="stack">
      <ResponseFacts response={response} />
      <MetadataList kind="responses" metadata={response.metadata ?? {}} />
      {response.error && (
        <p class="notice bad">
          <bdi>{visibleText(response.error.message)}</bdi>
        </p>
      )}
      <DetailTabs tabs={tabs} selected={tab}>
        {tab === 'json' && <JsonView value={response} />}
        {tab === 'replay' && <Replay path={path} response={response} />}
        {tab === 'conversation' && <ResponseConversation path={path} response={response} />}
      </DetailTabs>
    </div>
  )
}

function ResponseConversation({
  path,
  response,
}: {
  readonly path: string
  readonly response: StoredResponse
}) {
  const api = useApi()
  const pages = usePages(
    (after, signal) =>
      api.get<ListPage<unknown>>(`${path}/input_items`, {
        query: { after, limit: 50, order: 'asc' },
        signal,
      }),
    [api, path],
  )
  const { items, loading, failure, hasMore, loadMore } = pages
  const instructions = response.instructions
    ? [
        {
          kind: 'message',
          role: 'instructions',
          parts: [{ kind: 'text', text: response.instructions }],
        } as const,
      ]
    : []
  return (
    <>
      <Conversation label="Input" entries={[...instructions, ...items.map(itemEntry)]} />
      {loading && <Loading lines={3} />}
      {failure && <Failure failure={failure} retry={loadMore} />}
      {hasMore && !loading && !failure && <Button label="Load more of the input" onClick={loadMore} />}
      <Conversation label="Output" entries={response.output.map(itemEntry)} />
    </>
  )
}
