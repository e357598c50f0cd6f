import { Elysia } from 'elysia'
import type { Guard } from '../../../http/guard.ts'
import type { LimitValues } from '../../../storage/ports/limits.ts'
import { adminKeyRoutes } from './admin-key-routes.ts'
import { auditLogRoutes } from './audit-log-routes.ts'
import { mintedKeyRoutes } from './minted-keys.ts'
import { limitRoutes } from './limit-routes.ts'
import { createOwnKeys } from './own-keys.ts'
import { createOwnProjects, type ManagementDependencies } from './own-projects.ts'
import { createPermissionGuard } from './permission.ts'
import { projectKeyRoutes } from './project-key-routes.ts'
import { ownProjectRoutes } from './project-routes.ts'

/** What an organization can change itself with an API key that has the permission for it. `limits` are those of the settings. */
export function managementRoutes(guard: Guard, limits: LimitValues, parts: ManagementDependencies) {
  const admin = createPermissionGuard(guard, 'admin', parts.addressOf)
  const mint = createPermissionGuard(guard, 'mint', parts.addressOf)
  const projects = createOwnProjects(parts)
  const keys = createOwnKeys(parts)
  return new Elysia({ name: 'organization-management' })
    .use(ownProjectRoutes(admin, projects))
    .use(limitRoutes(admin, { projects, managed: parts.managed, limits }))
    .use(projectKeyRoutes(admin, { projects, keys }))
    .use(adminKeyRoutes(admin, keys))
    .use(auditLogRoutes(admin, parts.managed))
    .use(mintedKeyRoutes(mint, parts))
}
