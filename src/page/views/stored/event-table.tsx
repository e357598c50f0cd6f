import { useMemo, useState } from 'preact/hooks'
import { formatCount } from '../../components/format.ts'
import { type Column, Table } from '../../components/table.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import type { ReplayEvent } from './replay-player.ts'

type Row = { readonly index: number; readonly event: ReplayEvent }

/** Characters of the JSON of an event in its cell. */
const maxShown = 200

const columns: readonly Column<Row>[] = [
  { id: 'index', header: 'No.', align: 'right', render: ({ index }) => formatCount(index) },
  { id: 'name', header: 'Event', render: ({ event }) => <code>{visibleText(event.name)}</code> },
  {
    id: 'data',
    header: 'Data',
    render: ({ event }) => <code class="quiet">{visibleText(event.data.slice(0, maxShown))}</code>,
  },
]

/** The recorded events as they are. */
export function EventTable({ events }: { readonly events: readonly ReplayEvent[] }) {
  const [open, setOpen] = useState(false)
  const rows = useMemo(() => events.map((event, index) => ({ event, index })), [events])
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Recorded events</summary>
      {open && (
        <Table label="Recorded events" columns={columns} rows={rows} rowKey={({ index }) => String(index)} />
      )}
    </details>
  )
}
