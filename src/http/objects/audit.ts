import { Type } from 'typebox'
import { auditEvents } from '../../storage/ports/audit.ts'
import { FreeObject, stringEnum, textOrNull } from '../schema.ts'

const fieldsOrNull = (description: string) => Type.Union([FreeObject, Type.Null()], { description })

/** The schema of `renderAuditEntry`. */
export const AuditLogObject = Type.Object(
  {
    object: Type.Literal('audit_log', { description: 'The type of the object.' }),
    id: Type.String({ description: 'The ID of the entry.' }),
    created_at: Type.String({ description: 'When the change was made, in ISO 8601.' }),
    event: stringEnum(auditEvents, { description: 'What happened.' }),
    actor: Type.Object(
      {
        type: stringEnum(['admin_key', 'api_key', 'command_line', 'settings'], {
          description: 'Who made the change. `settings` is a reload of the settings.',
        }),
        id: textOrNull('The ID of the key; null for `WEIR_ADMIN_KEY`, and without a key.'),
        name: textOrNull('The name that the key had, or the user of the operating system.'),
      },
      { description: 'Who made the change.' },
    ),
    source: stringEnum(['api', 'page', 'cli', 'server'], {
      description:
        'From where: a request, one from a page in a browser as far as the client says, the command line, or a server itself.',
    }),
    address: textOrNull('The address of the connection, or the name of the machine.'),
    forwarded_for: textOrNull('The `x-forwarded-for` of the request, which only a proxy makes trustworthy.'),
    resource: Type.Object(
      {
        type: Type.String({ description: 'Its type, such as `api_key`.' }),
        id: textOrNull('Its ID.'),
        name: textOrNull('The name that it had.'),
      },
      { description: 'What was changed.' },
    ),
    organization: textOrNull('The name that its organization had; null without one.'),
    organization_id: textOrNull('The ID of its organization.'),
    project: textOrNull('The ID of its project.'),
    before: fieldsOrNull(
      'The values before the change of the fields that it changed; null for a new object.',
    ),
    after: fieldsOrNull('Their values after the change; null for what does not exist any more.'),
  },
  { title: 'AuditLog' },
)
