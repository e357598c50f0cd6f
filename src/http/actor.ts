import type { Actor } from '../storage/ports/audit.ts'
import { shortText } from '../lib/text.ts'

/** Returns the address of the connection of a request; null where it is not known. */
export type AddressOf = (request: Request) => string | null

/** The characters of an X-Forwarded-For that are recorded: some addresses. */
const maxForwardedFor = 200

/** Who makes a change with this key, and from where. A browser sends the origin of its page with every change. */
export function actorOf(
  key: Pick<Actor, 'type' | 'id' | 'name'>,
  request: Request,
  addressOf: AddressOf,
): Actor {
  const { headers } = request
  const forwardedFor = headers.get('x-forwarded-for')
  return {
    type: key.type,
    id: key.id,
    name: key.name,
    source: headers.has('origin') ? 'page' : 'api',
    address: addressOf(request),
    forwardedFor: forwardedFor && endOf(forwardedFor),
  }
}

/** Each proxy adds an address at the end: a client that sends a long list must not hide that one. */
function endOf(text: string): string {
  const end = text.length <= maxForwardedFor ? text : `…${text.slice(-maxForwardedFor)}`
  return shortText(end, maxForwardedFor + 1)
}
