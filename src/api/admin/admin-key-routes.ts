import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { adminPermissions } from '../../domain/accounting/organization.ts'
import { objectType, stringEnum, text, textOrNull } from '../../http/schema.ts'
import { type AdminGuard, describeAdmin } from './admin-guard.ts'

const AdminKeyObject = Type.Object(
  {
    object: objectType('admin_key'),
    id: textOrNull('The ID of the admin key; null for that of the variable WEIR_ADMIN_KEY.'),
    name: text('Its name.'),
    permissions: Type.Array(stringEnum(adminPermissions), {
      description:
        'What it may do: read, change the gateway (`write`), and read what clients have sent and received (`content`).',
    }),
  },
  { title: 'AdminKey' },
)

const detail = describeAdmin({
  id: 'getAdminKey',
  summary: 'Get the admin key of the request',
  description: 'Returns the admin key that the request has as its bearer token, and what that may do.',
  reply: AdminKeyObject,
})

/** The admin key of the request. Only the command line creates and lists them. */
export function adminKeyRoutes(guard: AdminGuard) {
  return new Elysia({ name: 'admin-key' })
    .use(guard)
    .get('/admin/admin_key', ({ operator }) => ({ object: 'admin_key', ...operator }), { detail })
}
