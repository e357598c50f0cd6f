import { Elysia } from 'elysia'
import { timeSortedId } from '../lib/id.ts'

/** Sets the `x-request-id` header of every reply, errors included. The log has the same id. */
export function requestId() {
  return new Elysia({ name: 'request-id' }).onRequest(({ set }) => {
    set.headers['x-request-id'] = timeSortedId('req_')
  })
}
