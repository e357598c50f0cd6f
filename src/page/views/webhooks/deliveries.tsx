import { useMemo, useState } from 'preact/hooks'
import type { WebhookDelivery } from '../../api/objects.ts'
import { newestFirst, useList } from '../../api/pages.ts'
import { useChange } from '../../api/resource.ts'
import { ChangeButton } from '../../change-button.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Badge, Facts, Foreign, Time } from '../../components/facts.tsx'
import { SelectField } from '../../components/field.tsx'
import { formatCount, visibleText } from '../../components/format.ts'
import { PagedTable } from '../../components/paged-table.tsx'
import { type Column, column, countColumn, nameColumn } from '../../components/table-columns.tsx'
import { EmptyLine, Failure, Section } from '../../components/view.tsx'
import { useAdminApi } from '../../session.tsx'

const filters = [
  { value: '', label: 'All' },
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'dead', label: 'Dead' },
] as const

/** The deliveries of events, with a filter. */
export function Deliveries({ onChanged }: { readonly onChanged: () => void }) {
  const [status, setStatus] = useState<WebhookDelivery['status'] | ''>('')
  const [shown, setShown] = useState<WebhookDelivery>()
  const query = { ...newestFirst, status: status || undefined }
  const pages = useList<WebhookDelivery>(useAdminApi(), '/admin/webhook_deliveries', query)
  const columns = useMemo(() => deliveryColumns(setShown), [])
  const retried = () => {
    setShown(undefined)
    pages.reload()
    onChanged()
  }
  return (
    <Section title="Deliveries" controls={<Button label="Reload" icon="retry" onClick={pages.reload} />}>
      <div class="key-filters">
        <SelectField label="Status" value={status} options={filters} onChange={setStatus} />
      </div>
      <PagedTable
        label="List of deliveries"
        columns={columns}
        pages={pages}
        rowKey={({ id }) => id}
        empty={<NoDeliveries status={status} onShowAll={() => setStatus('')} />}
      />
      {shown && <DeliveryDialog delivery={shown} onClose={() => setShown(undefined)} onRetried={retried} />}
    </Section>
  )
}

function NoDeliveries(props: {
  readonly status: WebhookDelivery['status'] | ''
  readonly onShowAll: () => void
}) {
  const { status, onShowAll } = props
  if (status === '')
    return (
      <p class="quiet">
        No event has been sent yet. “Test” at an endpoint sends one, which is not listed here.
      </p>
    )
  return (
    <EmptyLine text={`No delivery is ${status}.`}>
      <Button label="Show all" onClick={onShowAll} />
    </EmptyLine>
  )
}

const tones = { pending: 'warning', delivered: 'good', dead: 'bad' } as const

function deliveryColumns(show: (delivery: WebhookDelivery) => void): readonly Column<WebhookDelivery>[] {
  return [
    nameColumn('type', 'Event', ({ type }) => type),
    nameColumn('endpoint', 'Endpoint', ({ endpoint }) => endpoint),
    column('created', 'Created', ({ created_at }) => <Time at={created_at} />),
    column('status', 'Status', ({ status }) => <Badge tone={tones[status]}>{status}</Badge>),
    countColumn('attempts', 'Attempts', ({ attempts }) => attempts),
    column('error', 'Error', ({ error }) => <ErrorText text={error} />),
    column(
      'actions',
      'Actions',
      (delivery) => (
        <span class="row-actions">
          <Button label="Show" of={delivery.event} onClick={() => show(delivery)} />
        </span>
      ),
      { align: 'right' },
    ),
  ]
}

function ErrorText({ text }: { readonly text: string | null }) {
  if (text === null) return <>–</>
  return (
    <span class="clipped">
      <Foreign text={text} />
    </span>
  )
}

/** One delivery: its event, its outcome, and a button that sends it once more. */
function DeliveryDialog(props: {
  readonly delivery: WebhookDelivery
  readonly onClose: () => void
  readonly onRetried: () => void
}) {
  const { delivery, onClose, onRetried } = props
  const admin = useAdminApi()
  const { busy, failure, run } = useChange()
  const retry = async () => {
    await admin.send('POST', `/admin/webhook_deliveries/${encodeURIComponent(delivery.id)}/retry`)
    onRetried()
  }
  const { attempted_at: attempted, next_attempt_at: next, response_status: response } = delivery
  return (
    <Dialog
      title={`${delivery.type} for ${delivery.endpoint}`}
      onClose={onClose}
      actions={
        <ChangeButton label="Send once more" icon="retry" disabled={busy} onClick={() => run(retry)} />
      }
    >
      <Facts
        facts={[
          ['Event', <code>{delivery.event}</code>],
          ['Status', <Badge tone={tones[delivery.status]}>{delivery.status}</Badge>],
          ['Attempts', formatCount(delivery.attempts)],
          ['Last attempt', attempted === null ? 'none' : <Time at={attempted} />],
          ['Next attempt', next === null ? 'none' : <Time at={next} />],
          ['Response', response === null ? 'none' : String(response)],
          ['Error', delivery.error === null ? 'none' : <Foreign text={delivery.error} />],
        ]}
      />
      <pre>{visibleText(JSON.stringify(delivery.data, null, 2))}</pre>
      {failure && <Failure failure={failure} />}
    </Dialog>
  )
}
