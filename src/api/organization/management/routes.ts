import { Elysia } from 'elysia'
import type { Guard } from '../../../http/guard.ts'
import type { LimitValues } from '../../../storage/ports/limits.ts'
import { adminKeyRoutes } from './admin-key-routes.ts'
import { auditLogRoutes } from './audit-log-routes.ts'
import { mintedKeyRoutes } from './minted-key-routes.ts'
import { createMintedKeyService } from './minted-keys.ts'
import { createOwnKeys } from './own-keys.ts'
import { createOwnProjects, type ManagementDependencies } from './own-projects.ts'
import { createPermissionGuard } from './permission.ts'
import { projectKeyRoutes } from './project-key-routes.ts'
import { projectLimitRoutes } from './project-limit-routes.ts'
import { ownProjectRoutes } from './project-routes.ts'
import { serviceAccountRoutes } from './service-account-routes.ts'
import { spendLimitRoutes } from './spend-limit-routes.ts'

/** What an organization can change itself with an API key that has the permission for it. `limits` are those of the settings. */
export function managementRoutes(guard: Guard, limits: LimitValues, parts: ManagementDependencies) {
  const admin = createPermissionGuard(guard, 'admin', parts.addressOf)
  const mint = createPermissionGuard(guard, 'mint', parts.addressOf)
  const projects = createOwnProjects(parts)
  const keys = createOwnKeys(parts)
  return new Elysia({ name: 'organization-management' })
    .use(ownProjectRoutes(admin, projects))
    .use(projectLimitRoutes(admin, projects, limits))
    .use(spendLimitRoutes(admin, projects, parts.managed))
    .use(projectKeyRoutes(admin, { projects, keys }))
    .use(serviceAccountRoutes(admin, { projects, keys }))
    .use(adminKeyRoutes(admin, keys))
    .use(auditLogRoutes(admin, parts.managed))
    .use(mintedKeyRoutes(mint, createMintedKeyService(parts)))
}
