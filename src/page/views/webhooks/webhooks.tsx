import type { WebhookEndpoint } from '../../api/objects.ts'
import { loadList } from '../../api/pages.ts'
import { useChange, useRefreshed } from '../../api/resource.ts'
import { ChangeButton } from '../../change-button.tsx'
import { formatCount, visibleText } from '../../components/format.ts'
import { type Column, column, countColumn, nameColumn } from '../../components/table-columns.tsx'
import { Table } from '../../components/table.tsx'
import { useToast } from '../../components/toast.tsx'
import { Empty, Failure, Loading, ViewHeader } from '../../components/view.tsx'
import { useAdminApi } from '../../session.tsx'
import { Deliveries } from './deliveries.tsx'

type TestResult = { readonly status: number | null; readonly error: string | null }

const refreshMs = 5000

/** The webhooks view: the endpoints of the settings, and the deliveries of events, for the operator. */
export function Webhooks() {
  const admin = useAdminApi()
  const { value, failure, reload } = useRefreshed(
    (signal) => loadList<WebhookEndpoint>(admin, '/admin/webhooks', signal),
    [admin],
    refreshMs,
  )
  return (
    <>
      <ViewHeader title="Webhooks">
        <span class="quiet">Endpoints are refreshed every 5 s</span>
      </ViewHeader>
      <div class="stack">
        {failure && <Failure failure={failure} retry={reload} />}
        {value === undefined && failure === undefined && <Loading lines={6} />}
        {value && <Endpoints endpoints={value} onChanged={reload} />}
        {value && value.length > 0 && <Deliveries onChanged={reload} />}
      </div>
    </>
  )
}

function Endpoints(props: {
  readonly endpoints: readonly WebhookEndpoint[]
  readonly onChanged: () => void
}) {
  const { endpoints, onChanged } = props
  const { failure, ...actions } = useEndpointActions(onChanged)
  return (
    <>
      {failure && <Failure failure={failure} />}
      <Table
        label="Endpoints"
        columns={[...endpointColumns, actionColumn(actions)]}
        rows={endpoints}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No endpoints are configured">
            <p>
              Add one to <code>webhooks</code> in <code>weir.yaml</code> to receive events about budgets,
              balances, providers and background runs.
            </p>
          </Empty>
        }
      />
    </>
  )
}

/** Changes one endpoint at a time. */
function useEndpointActions(onChanged: () => void) {
  const admin = useAdminApi()
  const toast = useToast()
  const { busy, failure, run } = useChange()
  const post = <Reply,>(id: string, action: string) =>
    admin.send<Reply>('POST', `/admin/webhooks/${encodeURIComponent(id)}/${action}`)
  return {
    busy,
    failure,
    test: ({ id }: WebhookEndpoint) =>
      run(async () => {
        const { status, error } = await post<TestResult>(id, 'test')
        toast(error === null ? `${id} has accepted the event with status ${status}.` : `${id}: ${error}`)
      }),
    retryDead: ({ id }: WebhookEndpoint) =>
      run(async () => {
        const { deliveries } = await post<{ readonly deliveries: number }>(id, 'retry')
        toast(
          `${formatCount(deliveries)} ${deliveries === 1 ? 'delivery is' : 'deliveries are'} due once more.`,
        )
        onChanged()
      }),
  }
}

const endpointColumns: readonly Column<WebhookEndpoint>[] = [
  nameColumn('name', 'Endpoint', ({ id }) => id),
  column('origin', 'URL', ({ origin }) => <code>{visibleText(origin)}/…</code>),
  column(
    'events',
    'Events',
    ({ events }) => <span title={events.join(', ')}>{formatCount(events.length)}</span>,
    { align: 'right' },
  ),
  nameColumn('organization', 'Organization', ({ organization }) => organization ?? 'all'),
  countColumn('pending', 'Pending', ({ pending }) => pending),
  countColumn('dead', 'Dead', ({ dead }) => dead),
]

type Actions = Omit<ReturnType<typeof useEndpointActions>, 'failure'>

function actionColumn({ busy, test, retryDead }: Actions): Column<WebhookEndpoint> {
  const render = (endpoint: WebhookEndpoint) => (
    <span class="row-actions">
      <ChangeButton
        label="Test"
        of={endpoint.id}
        icon="send"
        disabled={busy}
        onClick={() => test(endpoint)}
      />
      {endpoint.dead > 0 && (
        <ChangeButton
          label="Retry the dead"
          of={`deliveries to ${endpoint.id}`}
          icon="retry"
          disabled={busy}
          onClick={() => retryDead(endpoint)}
        />
      )}
    </span>
  )
  return column('actions', 'Actions', render, { align: 'right' })
}
