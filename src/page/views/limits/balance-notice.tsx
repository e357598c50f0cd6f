import { parseUsd } from '../../../lib/usd.ts'
import type { OwnOrganization } from './own-organization.ts'

/** Says what to do where requests to models are, or will soon be, rejected with 402. */
export function BalanceNotice({ organization }: { readonly organization: OwnOrganization }) {
  const { billing, name } = organization
  const available = parseUsd(organization.available_usd) ?? 0n
  if (billing === 'none')
    return (
      <p class="notice bad">
        Requests to models get 402 until the operator configures billing:{' '}
        <code>{`weir orgs set ${JSON.stringify(name)} --billing prepaid`}</code>
      </p>
    )
  if (billing === 'unmetered' || available > 0n) return null
  return (
    <p class="notice bad">
      Nothing is available: requests to models get 402 until the operator adds credit:{' '}
      <code>{`weir orgs credit ${JSON.stringify(name)} 10`}</code>
    </p>
  )
}
