import { Elysia } from 'elysia'
import { adminKeyRoutes } from './admin-key-routes.ts'
import { type AdminGuardDependencies, createAdminGuard } from './admin-guard.ts'
import { auditAdminRoutes, type AuditRouteDependencies } from './audit-routes.ts'
import { keyAdminRoutes } from './key-routes.ts'
import { createKeyService } from './keys.ts'
import { ledgerAdminRoutes, type LedgerRouteDependencies } from './ledger-routes.ts'
import { organizationAdminRoutes } from './organization-routes.ts'
import { createOrganizationService, type OrganizationServiceDependencies } from './organizations.ts'
import { projectAdminRoutes } from './project-routes.ts'
import { createProjectService } from './projects.ts'
import { providerAdminRoutes, type ProviderListDependencies } from './provider-routes.ts'
import { requestAdminRoutes, type RequestRouteDependencies } from './request-routes.ts'
import { webhookAdminRoutes, type WebhookRouteDependencies } from './webhook-routes.ts'

/** The dependencies of the admin API. */
export type AdminDependencies = AdminGuardDependencies &
  OrganizationServiceDependencies &
  LedgerRouteDependencies &
  ProviderListDependencies &
  RequestRouteDependencies &
  WebhookRouteDependencies &
  AuditRouteDependencies

/** The admin API: what the command line does, for programs that have an admin key. */
export function adminRoutes(parts: AdminDependencies) {
  const guard = createAdminGuard(parts)
  return new Elysia({ name: 'admin' })
    .use(adminKeyRoutes(guard))
    .use(organizationAdminRoutes(guard, createOrganizationService(parts)))
    .use(ledgerAdminRoutes(guard, parts))
    .use(keyAdminRoutes(guard, createKeyService(parts)))
    .use(projectAdminRoutes(guard, createProjectService(parts)))
    .use(providerAdminRoutes(guard, parts))
    .use(webhookAdminRoutes(guard, parts))
    .use(requestAdminRoutes(guard, parts))
    .use(auditAdminRoutes(guard, parts))
}
