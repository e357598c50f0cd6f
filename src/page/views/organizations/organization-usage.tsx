import { useMemo, useState } from 'preact/hooks'
import type { ApiClient } from '../../api/client.ts'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { Loaded } from '../../components/states.tsx'
import { useAdminApi } from '../../session/session.tsx'
import { type RangeName, ranges } from '../usage/range.ts'
import { loadReport } from '../usage/report.ts'
import { grandTotal } from '../usage/totals.ts'
import { UsageReport } from '../usage/usage-report.tsx'

/** The usage of one organization, as its own keys would see it. */
export function OrganizationUsage({ id }: { readonly id: string }) {
  const admin = useAdminApi()
  const [range, setRange] = useState<RangeName>('7d')
  const shown = { range, by: 'none', model: undefined, key: undefined, everyone: true } as const
  const client = useMemo(() => usageOf(admin, id), [admin, id])
  const report = useResource(
    (signal) => loadReport(client, { ...shown, now: Date.now() }, signal),
    [client, range],
  )
  return (
    <section class="stack" aria-labelledby="organization-usage" aria-busy={report.loading}>
      <div class="section-header">
        <h2 id="organization-usage">Usage</h2>
        <div class="segmented" role="group" aria-label="Range">
          {Object.entries(ranges).map(([name, { label }]) => (
            <Button
              key={name}
              label={label}
              pressed={name === range}
              onClick={() => setRange(name as RangeName)}
            />
          ))}
        </div>
      </div>
      <Loaded resource={report} lines={8}>
        {(value) =>
          grandTotal(value.total).requests === 0 ? (
            <p class="quiet">There were no requests in the last {ranges[range].past}.</p>
          ) : (
            <UsageReport report={value} shown={shown} />
          )
        }
      </Loaded>
    </section>
  )
}

/** A client of which every report is about this organization. */
function usageOf(admin: ApiClient, id: string): ApiClient {
  return {
    ...admin,
    get: (path, options = {}) =>
      admin.get(path, { ...options, query: { ...options.query, organization_ids: [id] } }),
  }
}
