import { useMemo, useState } from 'preact/hooks'
import type { ApiClient } from '../../api/client.ts'
import type { Organization } from '../../api/objects.ts'
import { useGet, useResource } from '../../api/resource.ts'
import { ChangeButton } from '../../change-button.tsx'
import { Button } from '../../components/button.tsx'
import { Facts, Figure, Time } from '../../components/facts.tsx'
import { exactUsd, visibleText } from '../../components/format.ts'
import { useToast } from '../../components/toast.tsx'
import { EmptyLine, Loaded, Section, ViewHeader } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { RangeButtons } from '../usage/period-fields.tsx'
import { type RangeName, ranges } from '../usage/period.ts'
import { grandTotal, loadReport } from '../usage/report.ts'
import { UsageReport } from '../usage/usage.tsx'
import { LimitsSection } from './limits-view.tsx'
import { organizationPath, OrganizationState } from './organization.tsx'
import { AddCredit, DeleteOrganization, OrganizationForm } from './organization-dialogs.tsx'
import { OwnedKeys } from './owned-keys.tsx'
import { OrganizationProjects } from './projects.tsx'

type DialogName = 'credit' | 'edit' | 'delete'

/** One organization: its balance and limits, its projects and API keys, and its usage. */
export function OrganizationDetail({ name }: { readonly name: string }) {
  const toast = useToast()
  const organization = useGet<Organization>(useAdminApi(), organizationPath(name))
  const [dialog, setDialog] = useState<DialogName>()
  const { value } = organization
  const dialogProps = value && {
    organization: value,
    onClose: () => setDialog(undefined),
    onDone: organization.reload,
  }
  const onDeleted = () => {
    toast('The organization is deleted.')
    location.hash = routeHash('organizations')
  }
  return (
    <>
      <ViewHeader
        title={visibleText(value?.name ?? name)}
        back={{ href: routeHash('organizations'), label: '← All organizations' }}
      >
        <Actions disabled={value === undefined} onOpen={setDialog} />
      </ViewHeader>
      <Loaded resource={organization} lines={12}>
        {(loaded) => <Account organization={loaded} onChanged={organization.reload} />}
      </Loaded>
      {dialogProps && dialog === 'credit' && <AddCredit {...dialogProps} />}
      {dialogProps && dialog === 'edit' && <OrganizationForm {...dialogProps} />}
      {dialogProps && dialog === 'delete' && <DeleteOrganization {...dialogProps} onDone={onDeleted} />}
    </>
  )
}

function Actions(props: { readonly disabled: boolean; readonly onOpen: (dialog: DialogName) => void }) {
  const { disabled, onOpen } = props
  return (
    <>
      <ChangeButton label="Add credit" kind="primary" disabled={disabled} onClick={() => onOpen('credit')} />
      <ChangeButton label="Edit" disabled={disabled} onClick={() => onOpen('edit')} />
      <ChangeButton label="Delete" kind="danger" disabled={disabled} onClick={() => onOpen('delete')} />
    </>
  )
}

function Account(props: { readonly organization: Organization; readonly onChanged: () => void }) {
  const { organization, onChanged } = props
  const { id, name, balance_usd, reserved_usd, created_at } = organization
  return (
    <div class="stack wide">
      <section class="stack" aria-label="Account">
        <dl class="figures exact">
          <Figure label="Balance">{exactUsd(balance_usd)}</Figure>
          <Figure label="Reserved by open requests">{exactUsd(reserved_usd)}</Figure>
        </dl>
        <Facts
          facts={[
            ['Billing', <OrganizationState of={organization} />],
            ['ID', <code>{id}</code>],
            ['Created', <Time at={created_at} />],
            ['Changes of the balance', <a href={routeHash('organizations', [id, 'ledger'])}>Ledger</a>],
          ]}
        />
      </section>
      <LimitsSection of={organization} path={organizationPath(id)} empty="default" onChanged={onChanged} />
      <OrganizationProjects organization={name} />
      <OwnedKeys organization={name} />
      <OrganizationUsage id={id} />
    </div>
  )
}

/** The usage of one organization, as its own keys would see it. */
function OrganizationUsage({ id }: { readonly id: string }) {
  const admin = useAdminApi()
  const [range, setRange] = useState<RangeName>('7d')
  const shown = { period: range, by: [], filters: {}, everyone: true }
  const client = useMemo(() => usageOf(admin, id), [admin, id])
  const report = useResource((signal) => loadReport(client, shown, Date.now(), signal), [client, range])
  return (
    <Section
      title="Usage"
      controls={<RangeButtons selected={range} onSelect={setRange} />}
      busy={report.loading}
    >
      <Loaded resource={report} lines={8}>
        {(value) =>
          grandTotal(value.total).requests === 0 ? (
            <EmptyLine text={`There were no requests in the last ${ranges[range].past}.`}>
              {range === '30d' ? (
                <a href={routeHash('live')}>Watch the live requests</a>
              ) : (
                <Button label="Show the last 30 days" onClick={() => setRange('30d')} />
              )}
            </EmptyLine>
          ) : (
            <UsageReport report={value} shown={shown} />
          )
        }
      </Loaded>
    </Section>
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
