import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { adminPermissions } from '../../domain/accounting/organization.ts'
import { describe } from '../../http/describe.ts'
import { stringEnum } from '../../http/schema.ts'
import { adminErrors, type AdminGuard } from './admin-guard.ts'

const AdminKeyObject = Type.Object(
  {
    object: Type.Literal('admin_key', { description: 'The type of the object.' }),
    id: Type.Union([Type.String(), Type.Null()], {
      description: 'The ID of the admin key; null for that of the variable WEIR_ADMIN_KEY.',
    }),
    name: Type.String({ description: 'Its name.' }),
    permissions: Type.Array(stringEnum(adminPermissions), {
      description:
        'What it may do: read, change the gateway (`write`), and read what clients have sent and received (`content`).',
    }),
  },
  { title: 'AdminKey' },
)

const detail = describe({
  tag: 'Admin',
  id: 'getAdminKey',
  summary: 'Get the admin key of the request',
  description: 'Returns the admin key that the request has as its bearer token, and what that may do.',
  reply: AdminKeyObject,
  errors: adminErrors,
})

/** The admin key of the request. Only the command line creates and lists them. */
export function adminKeyRoutes(guard: AdminGuard) {
  return new Elysia({ name: 'admin-key' })
    .use(guard)
    .get('/admin/admin_key', ({ operator }) => ({ object: 'admin_key', ...operator }), { detail })
}
