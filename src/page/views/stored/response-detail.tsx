import { type ResponseUsage, responseUsage } from '../../api/answer-events.ts'
import { toFailure } from '../../api/failure.ts'
import { useChange, useGet } from '../../api/resource.ts'
import { Button } from '../../components/button.tsx'
import { Facts, Foreign, Time } from '../../components/facts.tsx'
import { formatDuration } from '../../components/format.ts'
import { useToast } from '../../components/toast.tsx'
import { Loaded } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useApi } from '../../session.tsx'
import { Conversation, type Entry, itemEntry } from './conversation.tsx'
import { Replay } from './replay.tsx'
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

/** A stored response, as far as the page shows it. */
type StoredResponse = {
  readonly model: string
  readonly provider?: string
  readonly status: string
  /** Unix seconds. */
  readonly created_at: number
  readonly completed_at: number | null
  readonly instructions: string | null
  readonly previous_response_id: string | null
  readonly error: { readonly message: string } | null
  readonly incomplete_details: { readonly reason: string } | null
  readonly output: readonly unknown[]
  readonly usage: ResponseUsage | null
  readonly metadata: Metadata | null
}

/** A stored response with the items of its request. */
export function ResponseDetail({ id, query }: { readonly id: string; readonly query: URLSearchParams }) {
  const path = `/v1/responses/${encodeURIComponent(id)}`
  const response = useGet<StoredResponse>(useApi(), path)
  const { value, reload } = response
  /** Whether the response is still being generated, or waits for it. */
  const open = value?.status === 'queued' || value?.status === 'in_progress'
  return (
    <>
      <StoredHeader kind="responses" id={id} path={path} canDelete={value !== undefined && !open}>
        <Button label="Refresh" icon="retry" onClick={reload} />
        {open && <CancelButton path={path} onCancelled={reload} />}
      </StoredHeader>
      <Loaded resource={response} lines={12}>
        {(loaded) => <ResponseView path={path} response={loaded} query={query} />}
      </Loaded>
    </>
  )
}

/** Cancels a background run. */
function CancelButton({ path, onCancelled }: { readonly path: string; readonly onCancelled: () => void }) {
  const api = useApi()
  const toast = useToast()
  const { busy, run } = useChange()
  const cancel = async () => {
    try {
      await api.send('POST', `${path}/cancel`)
      toast('The run was cancelled.')
      onCancelled()
    } catch (error) {
      toast(toFailure(error).message)
    }
  }
  return <Button label="Cancel the run" icon="stop" disabled={busy} onClick={() => run(cancel)} />
}

type ResponseProps = { readonly path: string; readonly response: StoredResponse }

function ResponseView({ path, response, query }: ResponseProps & { readonly query: URLSearchParams }) {
  return (
    <div class="stack">
      <ResponseFacts response={response} />
      <MetadataList kind="responses" metadata={response.metadata ?? {}} />
      {response.error && (
        <p class="notice bad">
          <Foreign text={response.error.message} />
        </p>
      )}
      <DetailTabs
        query={query}
        parts={{
          conversation: <ResponseConversation path={path} response={response} />,
          replay: <Replay path={path} seconds={secondsOf(response)} />,
          json: <JsonView value={response} />,
        }}
      />
    </div>
  )
}

/** The API has whole seconds; null for a response in progress. */
function secondsOf({ created_at, completed_at }: StoredResponse): number | null {
  return completed_at === null ? null : completed_at - created_at
}

/** The facts of a response, with a link to the one that it continues. */
function ResponseFacts({ response }: { readonly response: StoredResponse }) {
  const { model, provider, status, usage, incomplete_details, previous_response_id: previous } = response
  return (
    <Facts
      facts={[
        ['Model', <Foreign text={model} />],
        ['Provider', <Foreign text={provider ?? '–'} />],
        [
          'Status',
          <>
            <StatusBadge status={status} /> {incomplete_details && <bdi>{incomplete_details.reason}</bdi>}
          </>,
        ],
        ['Created', <Time at={response.created_at} />],
        ['Duration', durationText(secondsOf(response))],
        [
          'Continues',
          previous === null ? (
            '–'
          ) : (
            <a href={routeHash('stored', ['responses', previous])}>the previous response</a>
          ),
        ],
        ...tokenFacts(usage && responseUsage(usage)),
      ]}
    />
  )
}

function durationText(seconds: number | null): string {
  if (seconds === null) return '–'
  return seconds < 1 ? 'Less than 1 s' : formatDuration(seconds * 1000)
}

function ResponseConversation({ path, response }: ResponseProps) {
  const { instructions, output } = response
  const first: readonly Entry[] = instructions
    ? [{ kind: 'message', role: 'instructions', parts: [{ kind: 'text', text: instructions }] }]
    : []
  return (
    <>
      <StoredInput
        path={`${path}/input_items`}
        entriesOf={(item) => [itemEntry(item)]}
        first={first}
        more="Load more of the input"
      />
      <Conversation label="Output" entries={output.map(itemEntry)} />
    </>
  )
}
