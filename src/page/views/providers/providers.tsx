import { useRefreshed } from '../../api/use-refreshed.ts'
import { Empty, Failure, Loading } from '../../components/states.tsx'
import { Table } from '../../components/table.tsx'
import { ViewHeader } from '../../components/view-header.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { routeHash } from '../../routing/route.ts'
import { useAdminApi } from '../../session/session.tsx'
import type { View, ViewProps } from '../view.ts'
import type { Provider } from './provider.ts'
import { providerColumns } from './provider-columns.tsx'
import { ProviderDetail } from './provider-detail.tsx'

const refreshMs = 5000

function Providers({ path: [name] }: ViewProps) {
  const admin = useAdminApi()
  const { value, failure, reload } = useRefreshed(
    async (signal) =>
      (await admin.get<{ readonly data: readonly Provider[] }>('/admin/providers', { signal })).data,
    [admin],
    refreshMs,
  )
  return (
    <>
      {name !== undefined && (
        <p class="back">
          <a href={routeHash('providers')}>← All providers</a>
        </p>
      )}
      <ViewHeader title={name === undefined ? 'Providers' : visibleText(name)}>
        <span class="quiet">Refreshed every 5 s</span>
      </ViewHeader>
      <div class="stack">
        {failure && <Failure failure={failure} retry={reload} />}
        {value === undefined && failure === undefined && <Loading lines={10} />}
        {value && <Content providers={value} name={name} />}
      </div>
    </>
  )
}

function Content(props: { readonly providers: readonly Provider[]; readonly name: string | undefined }) {
  const { providers, name } = props
  if (name === undefined) return <ProviderTable providers={providers} />
  const provider = providers.find(({ id }) => id === name)
  if (provider !== undefined) return <ProviderDetail provider={provider} />
  return (
    <Empty title="There is no such provider">
      <p>The settings do not have it, and no engine with this name was found.</p>
    </Empty>
  )
}

function ProviderTable({ providers }: { readonly providers: readonly Provider[] }) {
  return (
    <Table
      label="Providers"
      columns={providerColumns}
      rows={providers}
      rowKey={({ id }) => id}
      rowHref={({ id }) => routeHash('providers', [id])}
      initialSort={{ column: 'name', direction: 'ascending' }}
      empty={
        <Empty title="No providers are configured">
          <p>
            Set an API key such as <code>OPENAI_API_KEY</code>, or add a provider to <code>weir.yaml</code>.
          </p>
        </Empty>
      }
    />
  )
}

/** The providers view: health, circuits and errors, for the operator. */
export const providers: View = {
  id: 'providers',
  title: 'Providers',
  icon: 'providers',
  section: 'operator',
  needs: 'adminKey',
  shortcut: 'v',
  component: Providers,
}
