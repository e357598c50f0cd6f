import type { View, ViewProps } from '../view.ts'
import { OrganizationDetail } from './organization-detail.tsx'
import { OrganizationList } from './organization-list.tsx'

function Organizations({ path, query }: ViewProps) {
  const [name] = path
  return name === undefined ? (
    <OrganizationList query={query} />
  ) : (
    <OrganizationDetail key={name} name={name} />
  )
}

/** The organizations view: balances, billing and limits, for the operator. */
export const organizations: View = {
  id: 'organizations',
  title: 'Organizations',
  icon: 'organizations',
  section: 'operator',
  needs: 'adminKey',
  shortcut: 'o',
  component: Organizations,
}
