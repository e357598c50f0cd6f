import { useMemo, useState } from 'preact/hooks'
import { type ApiClient, type Query, withQuery } from '../../api/client.ts'
import { toFailure } from '../../api/failure.ts'
import { type ListPage, usePages } from '../../api/pages.ts'
import { useResource } from '../../api/resource.ts'
import { Button, saveFile } from '../../components/button.tsx'
import { Foreign, Time } from '../../components/facts.tsx'
import { exactUsd, visibleText } from '../../components/format.ts'
import { PagedTable } from '../../components/paged-table.tsx'
import type { Column } from '../../components/table-columns.tsx'
import { useToast } from '../../components/toast.tsx'
import { Empty, ViewHeader } from '../../components/view.tsx'
import { replaceQuery, routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { listParameters, queryOf, readFilters } from '../filtered-period.ts'
import { DayFields, RangeButtons } from '../usage/period-fields.tsx'
import { type Period, periodText } from '../usage/period.ts'
import { type Organization, organizationPath } from './organization.tsx'

/** An entry of a ledger, as the admin API returns it. */
type Entry = {
  readonly id: string
  readonly created_at: string
  readonly kind: 'credit' | 'charge'
  readonly amount_usd: string
  readonly balance_usd: string | null
  readonly request_id: string | null
  readonly note: string | null
}

/** What has changed the balance of an organization, in a period that the address keeps. */
export function Ledger(props: { readonly organization: string; readonly query: URLSearchParams }) {
  const admin = useAdminApi()
  const { organization, query } = props
  const text = query.toString()
  const { period } = useMemo(() => readFilters(query, {}, '7d'), [text])
  // The pages of one list have the same times.
  const now = useMemo(() => Math.floor(Date.now() / 1000), [text])
  const account = useResource(
    (signal) => admin.get<Organization>(organizationPath(organization), { signal }),
    [admin, organization],
  )
  const path = `${organizationPath(organization)}/ledger`
  const selected = listParameters({ period, filters: {} }, now)
  const name = account.value?.name ?? organization
  return (
    <>
      <ViewHeader
        title={`Ledger of ${visibleText(name)}`}
        back={{ href: routeHash('organizations', [organization]), label: '← The organization' }}
      >
        <CsvButton admin={admin} path={path} query={selected} name={name} />
      </ViewHeader>
      <div class="stack">
        <PeriodControls period={period} now={now} />
        <Entries path={path} query={selected} period={period} now={now} />
      </div>
    </>
  )
}

function Entries(props: {
  readonly path: string
  readonly query: Query
  readonly period: Period
  readonly now: number
}) {
  const { path, query, period, now } = props
  const admin = useAdminApi()
  const entries = usePages(
    (after, signal) => admin.get<ListPage<Entry>>(path, { query: { ...query, after, limit: 100 }, signal }),
    [admin, path, period, now],
  )
  return (
    <PagedTable
      label="Changes of the balance"
      columns={columns}
      pages={entries}
      rowKey={({ id }) => id}
      empty={
        <Empty title={`No change of the balance ${periodText(period)}`} text="Choose a longer period.">
          {period !== '30d' && (
            <Button label="Show the last 30 days" onClick={() => replaceQuery({ range: '30d' })} />
          )}
        </Empty>
      }
    />
  )
}

function PeriodControls({ period, now }: { readonly period: Period; readonly now: number }) {
  const select = (selected: Period) => replaceQuery(queryOf({ period: selected, filters: {} }))
  return (
    <div class="usage-controls">
      <RangeButtons selected={typeof period === 'string' ? period : undefined} onSelect={select} />
      <DayFields period={period} now={now} onSelect={select} />
    </div>
  )
}

/** The key is sent in a header, so that no link can download the file. */
function CsvButton(props: {
  readonly admin: ApiClient
  readonly path: string
  readonly query: Query
  readonly name: string
}) {
  const { admin, path, query, name } = props
  const toast = useToast()
  const [loading, setLoading] = useState(false)
  const download = async () => {
    setLoading(true)
    try {
      const response = await admin.open(withQuery(path, { ...query, format: 'csv' }), {})
      saveFile(`weir-ledger-${name.replace(/\W+/g, '-')}.csv`, await response.blob())
    } catch (error) {
      toast(toFailure(error).message)
    } finally {
      setLoading(false)
    }
  }
  return <Button label="Download CSV" icon="download" disabled={loading} onClick={() => void download()} />
}

const columns: readonly Column<Entry>[] = [
  { id: 'time', header: 'Time', render: ({ created_at }) => <Time at={created_at} format="second" /> },
  { id: 'kind', header: 'Kind', render: ({ kind }) => (kind === 'credit' ? 'Credit' : 'Charge') },
  { id: 'amount', header: 'Amount', align: 'right', render: ({ amount_usd }) => exactUsd(amount_usd) },
  {
    id: 'balance',
    header: 'Balance',
    align: 'right',
    render: ({ balance_usd }) => (balance_usd === null ? '–' : exactUsd(balance_usd)),
  },
  { id: 'reason', header: 'Request or note', render: (entry) => <Reason of={entry} /> },
]

function Reason({ of: { request_id, note } }: { readonly of: Entry }) {
  if (request_id === null) return <Foreign text={note ?? ''} />
  return (
    <a href={routeHash('requests', [request_id])}>
      <code>{visibleText(request_id)}</code>
    </a>
  )
}
