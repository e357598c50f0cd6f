import { useMemo, useState } from 'preact/hooks'
import type { ApiClient } from '../../api/client.ts'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { Loaded } from '../../components/states.tsx'
import { ViewHeader } from '../../components/view-header.tsx'
import { useShortcut } from '../../keyboard/shortcuts.tsx'
import { useSession } from '../../session/session.tsx'
import type { View, ViewProps } from '../view.ts'
import { loadReport } from './report.ts'
import { UsageControls } from './usage-controls.tsx'
import { readQuery } from './usage-query.ts'
import { UsageReport } from './usage-report.tsx'

function Usage({ query }: ViewProps) {
  const { client, everyone, canSwitch } = useUsageSource(query.get('scope') === 'all')
  const shown = readQuery(query, everyone)
  const [now, setNow] = useState(Date.now)
  const refresh = () => setNow(Date.now())
  useShortcut('r', 'Refresh the usage', refresh)
  const inputs = [client, shown.range, shown.by, shown.model, shown.key, now]
  const request = useMemo(() => ({ ...shown, now }), inputs)
  const report = useResource((signal) => loadReport(client, request, signal), inputs)
  return (
    <>
      <ViewHeader title="Usage">
        <Button label="Refresh" icon="retry" shortcut="r" disabled={report.loading} onClick={refresh} />
      </ViewHeader>
      <div class="stack" aria-busy={report.loading}>
        <UsageControls shown={shown} canSwitch={canSwitch} />
        <Loaded resource={report} lines={16}>
          {(value) => <UsageReport report={value} shown={shown} />}
        </Loaded>
      </div>
    </>
  )
}

/** Whose usage is shown: that of the organization of the key, or with the admin key that of all. */
function useUsageSource(all: boolean): {
  readonly client: ApiClient
  readonly everyone: boolean
  readonly canSwitch: boolean
} {
  const { api, admin } = useSession()
  const everyone = admin !== undefined && (all || api === undefined)
  const client = everyone ? admin : api
  if (client === undefined) throw new Error('This view requires an API key or the admin key.')
  return { client, everyone, canSwitch: api !== undefined && admin !== undefined }
}

/** The usage view: requests, tokens, cost, errors and latency over time. */
export const usage: View = {
  id: 'usage',
  title: 'Usage',
  icon: 'usage',
  section: 'organization',
  needs: 'either',
  shortcut: 'u',
  component: Usage,
}
