import { useState } from 'preact/hooks'
import { type ChatUsage, chatUsage } from '../../api/answer-events.ts'
import { useGet } from '../../api/resource.ts'
import { Button } from '../../components/button.tsx'
import { Facts, Foreign, Time } from '../../components/facts.tsx'
import { Loaded } from '../../components/view.tsx'
import { useApi } from '../../session.tsx'
import { Conversation, messageEntries } from './conversation.tsx'
import { MetadataEditor } from './metadata-editor.tsx'
import {
  DetailTabs,
  JsonView,
  MetadataList,
  StatusBadge,
  StoredHeader,
  StoredInput,
  tokenFacts,
} from './stored-object.tsx'
import type { Metadata } from './summary.ts'

type Completion = {
  readonly model: string
  readonly provider?: string
  readonly created: number
  readonly choices: readonly { readonly message: unknown; readonly finish_reason: string | null }[]
  readonly usage?: ChatUsage | null
  readonly metadata?: Metadata | null
}

/** A stored completion with the messages of its request. */
export function CompletionDetail({ id, query }: { readonly id: string; readonly query: URLSearchParams }) {
  const path = `/v1/chat/completions/${encodeURIComponent(id)}`
  const completion = useGet<Completion>(useApi(), path)
  const [editing, setEditing] = useState(false)
  const { value, reload } = completion
  return (
    <>
      <StoredHeader kind="completions" id={id} path={path} canDelete={value !== undefined}>
        <Button label="Edit metadata" disabled={value === undefined} onClick={() => setEditing(true)} />
      </StoredHeader>
      <Loaded resource={completion} lines={12}>
        {(loaded) => <CompletionView path={path} completion={loaded} query={query} />}
      </Loaded>
      {editing && (
        <MetadataEditor
          path={path}
          metadata={value?.metadata ?? {}}
          onClose={() => setEditing(false)}
          onSaved={reload}
        />
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
  return (
    <div class="stack">
      <Facts
        facts={[
          ['Model', <Foreign text={model} />],
          ['Provider', <Foreign text={provider ?? '–'} />],
          ['Created', <Time at={created} />],
          ['Finish reason', <StatusBadge status={choices[0]?.finish_reason ?? ''} />],
          ...tokenFacts(usage && chatUsage(usage)),
        ]}
      />
      <MetadataList kind="completions" metadata={metadata ?? {}} />
      <DetailTabs
        query={props.query}
        parts={{
          conversation: <CompletionConversation path={path} completion={completion} />,
          json: <JsonView value={completion} />,
        }}
      />
    </div>
  )
}

function CompletionConversation(props: { readonly path: string; readonly completion: Completion }) {
  return (
    <>
      <StoredInput path={`${props.path}/messages`} entriesOf={messageEntries} more="Load more messages" />
      {props.completion.choices.map(({ message }, index) => (
        <Conversation key={index} label="Output" entries={messageEntries(message)} />
      ))}
    </>
  )
}
