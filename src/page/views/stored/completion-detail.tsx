import { useState } from 'preact/hooks'
import { type ListPage, usePages } from '../../api/use-pages.ts'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { Failure, Loaded, Loading } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { useApi } from '../../session/session.tsx'
import { Conversation } from './conversation.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { DetailTabs, detailTabNamed } from './detail-tabs.tsx'
import { messageEntries } from './entries.ts'
import { JsonView } from './json-view.tsx'
import { MetadataEditor } from './metadata-editor.tsx'
import { type Metadata, MetadataList } from './metadata-list.tsx'
import { StoredHeader } from './stored-header.tsx'
import { StatusBadge } from './stored-table.tsx'
import { TokenFacts } from './token-facts.tsx'

type Completion = {
  readonly model: string
  readonly provider?: string
  readonly created: number
  readonly choices: readonly { readonly message: unknown; readonly finish_reason: string | null }[]
  readonly usage?: {
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens?: number }
    readonly completion_tokens_details?: { readonly reasoning_tokens?: number }
  } | null
  readonly metadata?: Metadata | null
}

const tabs = ['conversation', 'json'] as const

/** A stored completion with the messages of its request. */
export function CompletionDetail({ id, query }: { readonly id: string; readonly query: URLSearchParams }) {
  const api = useApi()
  const path = `/v1/chat/completions/${encodeURIComponent(id)}`
  const completion = useResource((signal) => api.get<Completion>(path, { signal }), [api, path])
  const [dialog, setDialog] = useState<'metadata' | 'delete' | undefined>()
  const close = () => setDialog(undefined)
  const metadata = completion.value?.metadata ?? {}
  return (
    <>
      <StoredHeader kind="completions" id={id}>
        <Button label="Edit metadata" disabled={!completion.value} onClick={() => setDialog('metadata')} />
        <Button
          label="Delete"
          icon="trash"
          kind="danger"
          disabled={!completion.value}
          onClick={() => setDialog('delete')}
        />
      </StoredHeader>
      <Loaded resource={completion} lines={12}>
        {(value) => <CompletionView path={path} completion={value} query={query} />}
      </Loaded>
      {dialog === 'delete' && <DeleteDialog kind="completions" id={id} onClose={close} />}
      {dialog === 'metadata' && (
        <MetadataEditor path={path} metadata={metadata} onClose={close} onSaved={completion.reload} />
      )}
    </>
  )
}

function CompletionView(props: {
  readonly path: string
  readonly completion: Completion
  readonly query: URLSearchParams
}) {
  const { completion, path } = props
  const { model, provider, created, choices, usage, metadata } = completion
  const tab = detailTabNamed(props.query, tabs)
  return (
    <div class="stack">
      <TokenFacts
        facts={[
          ['Model', <bdi>{visibleText(model)}</bdi>],
          ['Provider', <bdi>{visibleText(provider ?? '–')}</bdi>],
          ['Created', <Time at={created} />],
          ['Finish reason', <StatusBadge status={choices[0]?.finish_reason ?? ''} />],
        ]}
        usage={usage && toTokens(usage)}
      />
      <MetadataList kind="completions" metadata={metadata ?? {}} />
      <DetailTabs tabs={tabs} selected={tab}>
        {tab === 'json' ? (
          <JsonView value={completion} />
        ) : (
          <>
            <RequestMessages path={path} />
            {choices.map(({ message }, index) => (
              <Conversation key={index} label="Output" entries={messageEntries(message)} />
            ))}
          </>
        )}
      </DetailTabs>
    </div>
  )
}

function RequestMessages({ path }: { readonly path: string }) {
  const api = useApi()
  const pages = usePages(
    (after, signal) =>
      api.get<ListPage<unknown>>(`${path}/messages`, { query: { after, limit: 50 }, signal }),
    [api, path],
  )
  const { items, loading, failure, hasMore, loadMore } = pages
  return (
    <>
      <Conversation label="Input" entries={items.flatMap(messageEntries)} />
      {loading && <Loading lines={3} />}
      {failure && <Failure failure={failure} retry={loadMore} />}
      {hasMore && !loading && !failure && <Button label="Load more messages" onClick={loadMore} />}
    </>
  )
}

function toTokens(usage: NonNullable<Completion['usage']>) {
  return {
    input: usage.prompt_tokens,
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    output: usage.completion_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  }
}
