import { Elysia } from 'elysia'
import { type AdminGuardDependencies, createAdminGuard } from './admin-guard.ts'
import { keyAdminRoutes } from './key-routes.ts'
import { type LiveRequestDependencies, liveRequestRoutes } from './live-request-routes.ts'
import { organizationAdminRoutes } from './organization-routes.ts'
import { providerAdminRoutes } from './provider-routes.ts'
import type { ProviderListDependencies } from './providers.ts'
import { createKeyService } from './key-service.ts'
import { createOrganizationService, type OrganizationServiceDependencies } from './organization-service.ts'

/** What the admin API depends on. */
export type AdminDependencies = AdminGuardDependencies &
  OrganizationServiceDependencies &
  ProviderListDependencies &
  LiveRequestDependencies

/** The admin API: what the command line does, for programs that have WEIR_ADMIN_KEY. */
export function adminRoutes(parts: AdminDependencies) {
  const guard = createAdminGuard(parts)
  return new Elysia({ name: 'admin' })
    .use(organizationAdminRoutes(guard, createOrganizationService(parts)))
    .use(keyAdminRoutes(guard, createKeyService(parts)))
    .use(providerAdminRoutes(guard, parts))
    .use(liveRequestRoutes(guard, parts))
}
