import { Elysia } from 'elysia'
import { timeSortedId } from '../lib/id.ts'

/** Gives every reply, errors too, an `x-request-id`; the log names the same one. */
export function requestId() {
  return new Elysia({ name: 'request-id' }).onRequest(({ set }) => {
    set.headers['x-request-id'] = timeSortedId('req_')
  })
}
