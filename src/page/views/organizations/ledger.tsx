import { useMemo, useState } from 'preact/hooks'
import { type ApiClient, type Query, withQuery } from '../../api/client.ts'
import { toFailure } from '../../api/failure.ts'
import type { LedgerEntry, Organization } from '../../api/objects.ts'
import { useList } from '../../api/pages.ts'
import { useGet } from '../../api/resource.ts'
import { Button, saveFile } from '../../components/button.tsx'
import { Foreign, IdLink, Time } from '../../components/facts.tsx'
import { exactUsd, visibleText } from '../../components/format.ts'
import { PagedTable } from '../../components/paged-table.tsx'
import { type Column, column } from '../../components/table-columns.tsx'
import { useToast } from '../../components/toast.tsx'
import { Empty, ViewHeader } from '../../components/view.tsx'
import { replaceQuery, routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { listParameters, queryOf, readFilters } from '../filtered-period.ts'
import { PeriodFields } from '../usage/period-fields.tsx'
import { type Period, periodText } from '../usage/period.ts'
import { organizationPath } from './organization.tsx'

/** What has changed the balance of an organization, in a period that the address keeps. */
export function Ledger(props: { readonly organization: string; readonly query: URLSearchParams }) {
  const admin = useAdminApi()
  const { organization, query } = props
  const { period } = readFilters(query, {}, '7d')
  // The pages of one list have the same times.
  const now = useMemo(() => Math.floor(Date.now() / 1000), [query.toString()])
  const account = useGet<Organization>(admin, organizationPath(organization))
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
        <div class="usage-controls">
          <PeriodFields
            period={period}
            now={now}
            onSelect={(chosen) => replaceQuery(queryOf({ period: chosen, filters: {} }))}
          />
        </div>
        <Entries path={path} query={selected} period={period} />
      </div>
    </>
  )
}

function Entries(props: { readonly path: string; readonly query: Query; readonly period: Period }) {
  const { path, query, period } = props
  const entries = useList<LedgerEntry>(useAdminApi(), path, { ...query, limit: 100 })
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

const right = { align: 'right' } as const

const columns: readonly Column<LedgerEntry>[] = [
  column('time', 'Time', ({ created_at }) => <Time at={created_at} format="second" />),
  column('kind', 'Kind', ({ kind }) => (kind === 'credit' ? 'Credit' : 'Charge')),
  column('amount', 'Amount', ({ amount_usd }) => exactUsd(amount_usd), right),
  column('balance', 'Balance', ({ balance_usd: usd }) => (usd === null ? '–' : exactUsd(usd)), right),
  column('reason', 'Request or note', (entry) => <Reason of={entry} />),
]

function Reason({ of: { request_id, note } }: { readonly of: LedgerEntry }) {
  if (request_id === null) return <Foreign text={note ?? ''} />
  return <IdLink id={request_id} href={routeHash('requests', [request_id])} />
}
