import { useState } from 'preact/hooks'
import { useResource } from '../../api/use-resource.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Facts } from '../../components/facts.tsx'
import { Figure } from '../../components/figure.tsx'
import { Loaded } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useToast } from '../../components/toast.tsx'
import { ViewHeader } from '../../components/view-header.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { routeHash } from '../../routing/route.ts'
import { useAdminApi } from '../../session/session.tsx'
import { OrganizationKeys } from '../keys/organization-keys.tsx'
import { exactUsd, type Organization, organizationPath } from './organization.ts'
import { limitLabel } from './organization-columns.tsx'
import { AddCredit, DeleteOrganization, EditOrganization } from './organization-dialogs.tsx'
import { OrganizationUsage } from './organization-usage.tsx'

type OpenDialog = 'credit' | 'edit' | 'delete' | undefined

/** One organization: its balance and limits, its API keys, and its usage. */
export function OrganizationDetail({ name }: { readonly name: string }) {
  const admin = useAdminApi()
  const organization = useResource(
    (signal) => admin.get<Organization>(organizationPath(name), { signal }),
    [admin, name],
  )
  const [dialog, setDialog] = useState<OpenDialog>()
  const { value } = organization
  return (
    <>
      <p class="back">
        <a href={routeHash('organizations')}>← All organizations</a>
      </p>
      <ViewHeader title={visibleText(value?.name ?? name)}>
        <Buttons disabled={value === undefined} onOpen={setDialog} />
      </ViewHeader>
      <Loaded resource={organization} lines={12}>
        {(loaded) => <Account organization={loaded} />}
      </Loaded>
      {value && (
        <OpenedDialog
          dialog={dialog}
          organization={value}
          onClose={() => setDialog(undefined)}
          onChanged={organization.reload}
        />
      )}
    </>
  )
}

function Buttons(props: { readonly disabled: boolean; readonly onOpen: (dialog: OpenDialog) => void }) {
  const { disabled, onOpen } = props
  return (
    <>
      <Button label="Add credit" kind="primary" disabled={disabled} onClick={() => onOpen('credit')} />
      <Button label="Edit" disabled={disabled} onClick={() => onOpen('edit')} />
      <Button label="Delete" kind="danger" disabled={disabled} onClick={() => onOpen('delete')} />
    </>
  )
}

function OpenedDialog(props: {
  readonly dialog: OpenDialog
  readonly organization: Organization
  readonly onClose: () => void
  readonly onChanged: () => void
}) {
  const { dialog, ...rest } = props
  const toast = useToast()
  if (dialog === 'credit') return <AddCredit {...rest} />
  if (dialog === 'edit') return <EditOrganization {...rest} />
  if (dialog === undefined) return null
  const onDeleted = () => {
    toast('The organization is deleted.')
    location.hash = routeHash('organizations')
  }
  return <DeleteOrganization organization={rest.organization} onClose={rest.onClose} onDeleted={onDeleted} />
}

function Account({ organization }: { readonly organization: Organization }) {
  const { id, name, billing, balance_usd, reserved_usd, created_at } = organization
  return (
    <div class="stack wide">
      <section class="stack" aria-label="Account">
        <dl class="figures">
          <Figure label="Balance">{exactUsd(balance_usd)}</Figure>
          <Figure label="Reserved by open requests">{exactUsd(reserved_usd)}</Figure>
          <Figure label="Requests per minute">{limitLabel(organization.requests_per_minute)}</Figure>
          <Figure label="Tokens per minute">{limitLabel(organization.tokens_per_minute)}</Figure>
          <Figure label="Requests at once">{limitLabel(organization.concurrent_requests)}</Figure>
        </dl>
        <Facts
          facts={[
            ['Billing', <Badge tone={billing === 'none' ? 'bad' : 'neutral'}>{billing}</Badge>],
            ['ID', <code>{id}</code>],
            ['Created', <Time at={created_at} />],
          ]}
        />
      </section>
      <OrganizationKeys organization={name} />
      <OrganizationUsage id={id} />
    </div>
  )
}
